#include <gtest/gtest.h>

#include "llm/anthropic/anthropic_provider.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm::anthropic_decoder_test {
namespace {

const AnthropicProvider& provider() {
  static const AnthropicProvider anthropic({.model = "m"});
  return anthropic;
}

const std::string kStart =
    R"({"type":"message_start","message":{"content":[],"usage":{"input_tokens":4,)"
    R"("cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}})";
const std::string kMessageStop = R"({"type":"message_stop"})";
constexpr std::string_view kTokens = " in 9 cached 3 out 7 reasoning 5";

std::string start(int index, std::string_view block) {
  return cat(R"({"type":"content_block_start","index":)", index, R"(,"content_block":)", block,
             "}");
}
std::string delta(int index, std::string_view fields) {
  return cat(R"({"type":"content_block_delta","index":)", index, R"(,"delta":{)", fields, "}}");
}
std::string text_delta(int index, std::string_view text) {
  return delta(index, cat(R"("type":"text_delta","text":")", text, R"(")"));
}
// `text` is JSON already escaped for a string.
std::string input_delta(int index, std::string_view text) {
  return delta(index, cat(R"("type":"input_json_delta","partial_json":")", text, R"(")"));
}
std::string stop(int index) {
  return cat(R"({"type":"content_block_stop","index":)", index, "}");
}
std::string end(std::string_view reason) {
  return cat(R"({"type":"message_delta","delta":{"stop_reason":")", reason,
             R"("},"usage":{"output_tokens":7,"input_tokens":null,)"
             R"("output_tokens_details":{"thinking_tokens":5}}})");
}
std::string block(std::string_view json) {
  return cat(R"(block {"provider":"anthropic","model":"m","block":)", json, "}");
}
const std::string kText = R"({"type":"text","text":""})";
std::string tool(std::string_view id, std::string_view name) {
  return cat(R"({"type":"tool_use","id":")", id, R"(","name":")", name, R"(","input":{}})");
}
std::string tool_block(std::string_view id, std::string_view name, std::string_view input) {
  return block(
      cat(R"({"type":"tool_use","id":")", id, R"(","name":")", name, R"(","input":)", input, "}"));
}

TEST(AnthropicDecoder, TextBetweenPings) {
  std::string ping = R"({"type":"ping"})";
  std::string bytes = typed_frames({kStart, start(0, kText), ping, text_delta(0, "Hel"),
                                    text_delta(0, "lo \\u00e9"), R"({"type":"brand_new","x":[1]})",
                                    delta(0, R"("type":"new_delta","y":1)"), stop(0),
                                    end("end_turn"), ping, kMessageStop, ping});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text Hel", "text lo é", block(R"({"type":"text","text":"Hello é"})"),
                   cat("finished end_turn", kTokens)}));
}

TEST(AnthropicDecoder, LinesMayEndWithCrLfAndCodePointsMayBeSplit) {
  std::string bytes;
  for (const std::string& data : {kStart, start(0, kText), text_delta(0, "žluťoučký 🐎"), stop(0),
                                  end("end_turn"), std::string(kMessageStop)}) {
    append(bytes, "event: any\r\ndata: ", data, "\r\n\r\n");
  }
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text žluťoučký 🐎", block(R"({"type":"text","text":"žluťoučký 🐎"})"),
                   cat("finished end_turn", kTokens)}));
}

TEST(AnthropicDecoder, EmptyAnswersAndEmptyTextsHaveNoBlocks) {
  EXPECT_EQ(decode(provider(),
                   typed_frames({kStart, start(0, kText), stop(0), end("end_turn"), kMessageStop})),
            Lines{cat("finished end_turn", kTokens)});
  EXPECT_EQ(
      decode(provider(), typed_frames({R"({"type":"message_start","message":{}})", kMessageStop})),
      Lines{"finished end_turn in 0 cached 0 out 0 reasoning 0"});
}

TEST(AnthropicDecoder, ThoughtsWithSignaturesThenCallsThatCloseAtOnce) {
  std::string bytes = typed_frames(
      {kStart, start(0, R"({"type":"thinking","thinking":"","signature":""})"),
       delta(0, R"("type":"thinking_delta","thinking":"Hm")"),
       delta(0, R"("type":"signature_delta","signature":"c2ln")"), stop(0),
       start(1, R"({"type":"redacted_thinking","data":"eHg="})"), stop(1),
       start(2, tool("t1", "look")), input_delta(2, ""), input_delta(2, "{\\\"at\\\":"),
       input_delta(2, "1}"), stop(2), start(3, kText), text_delta(3, "and")});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought Hm", block(R"({"type":"thinking","thinking":"Hm","signature":"c2ln"})"),
                   block(R"({"type":"redacted_thinking","data":"eHg="})"),
                   tool_block("t1", "look", R"({"at":1})"), R"(call t1|look|{"at":1})", "text and",
                   "failed server retryable 0 : the stream of the model broke off"}));
}

TEST(AnthropicDecoder, AThoughtThatIsNotShownKeepsItsSignature) {
  std::string bytes =
      typed_frames({kStart, start(0, R"({"type":"thinking","thinking":"","signature":""})"),
                    delta(0, R"("type":"signature_delta","signature":"c2ln")"), stop(0),
                    end("end_turn"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{block(R"({"type":"thinking","thinking":"","signature":"c2ln"})"),
                   cat("finished end_turn", kTokens)}));
}

TEST(AnthropicDecoder, ATurnThatBreaksIsReplayedUpToItsLastClosedCall) {
  std::string thought = R"({"type":"thinking","thinking":"","signature":""})";
  std::string bytes = typed_frames(
      {kStart, start(0, thought), delta(0, R"("type":"thinking_delta","thinking":"Hm")"),
       delta(0, R"("type":"signature_delta","signature":"c2ln")"), stop(0),
       start(
           1,
           R"({"type":"tool_use","id":"t1","name":"look","input":{},"caller":{"type":"direct"}})"),
       input_delta(1, "{\\\"at\\\":1}"), stop(1), start(2, thought), stop(2),
       start(3, tool("t2", "look")), input_delta(3, "{\\\"at")});
  EXPECT_EQ(replayed(provider(), turn_of(provider(), bytes), "messages"), parsed(R"([
      {"role":"user","content":[{"type":"text","text":"Go"}]},
      {"role":"assistant","content":[
        {"type":"thinking","thinking":"Hm","signature":"c2ln"},
        {"type":"tool_use","id":"t1","name":"look","input":{"at":1},"caller":{"type":"direct"}}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"t1","content":"done"}]}])"));
}

TEST(AnthropicDecoder, InterleavedCalls) {
  std::string bytes =
      typed_frames({kStart, start(0, tool("a", "one")), start(1, tool("b", "two")),
                    input_delta(1, "{\\\"y\\\":2"), input_delta(0, "{\\\"x\\\":1}"), stop(0),
                    input_delta(1, "}"), stop(1), end("tool_use"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{tool_block("a", "one", R"({"x":1})"), R"(call a|one|{"x":1})",
                   tool_block("b", "two", R"({"y":2})"), R"(call b|two|{"y":2})",
                   cat("finished tool_use", kTokens)}));
}

TEST(AnthropicDecoder, ACallWithoutArgumentsClosesOnceTheModelGoesOn) {
  std::string bytes =
      typed_frames({kStart, start(0, tool("a", "one")), input_delta(0, ""), stop(0),
                    start(1, tool("b", "two")), input_delta(1, "{}"), stop(1),
                    start(2, tool("c", "three")), stop(2), end("tool_use"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{tool_block("a", "one", "{}"), "call a|one|", tool_block("b", "two", "{}"),
                   "call b|two|{}", tool_block("c", "three", "{}"), "call c|three|",
                   cat("finished tool_use", kTokens)}));
}

TEST(AnthropicDecoder, InvalidArgumentsArePassedOnAndReplayedAsAnEmptyObject) {
  std::string bytes = typed_frames({kStart, start(0, tool("a", "one")), input_delta(0, "[1"),
                                    stop(0), end("tool_use"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes), (Lines{tool_block("a", "one", "{}"), "call a|one|[1",
                                              cat("finished tool_use", kTokens)}));
}

TEST(AnthropicDecoder, ACallCutByTheLimitIsNotMade) {
  for (std::string_view reason : {"max_tokens", "model_context_window_exceeded"}) {
    for (std::string_view arguments : {"", "{\\\"a\\\":"}) {
      std::string bytes = typed_frames({kStart, start(0, kText), text_delta(0, "So"), stop(0),
                                        start(1, tool("a", "one")), input_delta(1, arguments),
                                        stop(1), end(reason), kMessageStop});
      EXPECT_EQ(decode(provider(), bytes),
                (Lines{"text So", block(R"({"type":"text","text":"So"})"),
                       cat("finished max_tokens", kTokens)}));
    }
  }
}

TEST(AnthropicDecoder, RefusalsBeforeAndAfterText) {
  std::string refusal =
      R"({"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":)"
      R"({"type":"refusal","category":"cyber","explanation":"Not that."}}})";
  EXPECT_EQ(decode(provider(), typed_frames({kStart, refusal, kMessageStop})),
            Lines{"failed refusal final 0 refusal: Not that."});
  EXPECT_EQ(decode(provider(), typed_frames({kStart, start(0, kText), text_delta(0, "So"),
                                             end("refusal"), kMessageStop})),
            (Lines{"text So", "failed refusal final 0 refusal: the model refuses to answer"}));
}

TEST(AnthropicDecoder, APausedTurnIsAskedAgain) {
  EXPECT_EQ(decode(provider(), typed_frames({kStart, end("pause_turn"), kMessageStop})),
            Lines{"failed server retryable 0 pause_turn: the model paused its turn"});
}

TEST(AnthropicDecoder, ErrorsInTheStream) {
  std::string overloaded =
      R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";
  EXPECT_EQ(decode(provider(), typed_frames({overloaded})),
            Lines{"failed overloaded retryable 0 overloaded_error: Overloaded"});
  EXPECT_EQ(decode(provider(), typed_frames({kStart, start(0, kText), text_delta(0, "a"),
                                             overloaded, kMessageStop})),
            (Lines{"text a", "failed overloaded retryable 0 overloaded_error: Overloaded"}));
  EXPECT_EQ(decode(provider(), data_frames({"no"})),
            Lines{"failed server retryable 0 : the model's server sent invalid JSON"});
  EXPECT_EQ(decode(provider(), "event: ping\ndata: {\"type\":\"ping\"}\n\n: hi\n\n"),
            Lines{"failed server retryable 0 : the stream of the model broke off"});
}

TEST(AnthropicDecoder, ArgumentsOfAMegabyte) {
  std::string text(1U << 20U, 'a');
  std::string bytes = typed_frames({kStart, start(0, tool("a", "one")),
                                    input_delta(0, cat("{\\\"x\\\":\\\"", text, "\\\"}")), stop(0),
                                    end("tool_use"), kMessageStop});
  std::string arguments = cat(R"({"x":")", text, R"("})");
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{tool_block("a", "one", arguments), cat("call a|one|", arguments),
                   cat("finished tool_use", kTokens)}));
}

TEST(AnthropicDecoder, CitationsAreKept) {
  std::string bytes = typed_frames({kStart, start(0, kText), text_delta(0, "a"),
                                    delta(0, R"("type":"citations_delta","citation":{"n":1})"),
                                    stop(0), end("end_turn"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text a", block(R"({"type":"text","text":"a","citations":[{"n":1}]})"),
                   cat("finished end_turn", kTokens)}));
}

// A question whose answer goes by the tool.
TurnRequest structured(std::vector<ToolDecl> tools) {
  return {.tools = share_decls(std::move(tools)), .output_schema = schema(R"({"type":"object"})")};
}

TEST(AnthropicDecoder, TheAnswerToolBecomesTheWholeTextWithoutBlocks) {
  std::string bytes =
      typed_frames({kStart, start(0, kText), text_delta(0, "Here:"), stop(0),
                    start(1, tool("a", "final_report")), input_delta(1, "{\\\"n\\\": 1}"), stop(1),
                    end("tool_use"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes, structured({})),
            (Lines{R"(text {"n": 1})", cat("finished end_turn", kTokens)}));
}

TEST(AnthropicDecoder, AnAnswerBesideCallsIsTooEarly) {
  std::string bytes = typed_frames({kStart, start(0, kText), text_delta(0, "Well"), stop(0),
                                    start(1, tool("a", "final_report")), input_delta(1, "{}"),
                                    stop(1), start(2, tool("b", "look")), input_delta(2, "{}"),
                                    stop(2), end("tool_use"), kMessageStop});
  EXPECT_EQ(
      decode(provider(), bytes, structured({})),
      (Lines{"text Well", block(R"({"type":"text","text":"Well"})"), tool_block("b", "look", "{}"),
             "call b|look|{}", cat("finished tool_use", kTokens)}));
}

TEST(AnthropicDecoder, WithoutACallOfTheAnswerToolTheTextIsTheAnswer) {
  std::string bytes = typed_frames(
      {kStart, start(0, kText), text_delta(0, "Well"), stop(0), end("end_turn"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes, structured({})),
            (Lines{"text Well", block(R"({"type":"text","text":"Well"})"),
                   cat("finished end_turn", kTokens)}));
}

TEST(AnthropicDecoder, AToolOfTheUsersMayHaveTheAnswerToolsName) {
  std::vector<ToolDecl> tools = {{.name = "final_report"}};
  std::string bytes = typed_frames({kStart, start(0, tool("a", "final_report")),
                                    input_delta(0, "{}"), stop(0), end("tool_use"), kMessageStop});
  EXPECT_EQ(decode(provider(), bytes, structured(tools)),
            (Lines{tool_block("a", "final_report", "{}"), "call a|final_report|{}",
                   cat("finished tool_use", kTokens)}));
}

}  // namespace
}  // namespace errand::llm::anthropic_decoder_test
