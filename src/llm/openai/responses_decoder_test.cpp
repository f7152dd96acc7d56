#include <gtest/gtest.h>

#include "llm/openai/responses_provider.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm::responses_decoder_test {
namespace {

const ResponsesProvider& provider() {
  static const ResponsesProvider responses({.model = "m"});
  return responses;
}

std::string text_delta(std::string_view text) {
  return cat(R"({"type":"response.output_text.delta","output_index":0,"item_id":"msg_1","delta":")",
             text, R"(","obfuscation":"xx"})");
}
std::string done(int index, std::string_view item) {
  return cat(R"({"type":"response.output_item.done","output_index":)", index, R"(,"item":)", item,
             "}");
}
std::string block(std::string_view item) {
  return cat(R"(block {"provider":"openai-responses","model":"m","block":)", item, "}");
}

const std::string kCompleted =
    R"({"type":"response.completed","response":{"status":"completed","output":[],"usage":)"
    R"({"input_tokens":10,"input_tokens_details":{"cached_tokens":3},"output_tokens":7,)"
    R"("output_tokens_details":{"reasoning_tokens":2}}}})";
const std::string kMessage =
    R"({"type":"message","id":"msg_1","status":"completed","role":"assistant",)"
    R"("phase":"final_answer","content":[{"type":"output_text","text":"Hello"}]})";
const std::string kReasoning =
    R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"})";
const std::string kCall = R"({"type":"function_call","id":"fc_1","call_id":"call_1","name":"look",)"
                          R"("arguments":"{\"at\":1}","status":"completed","caller":"c"})";
constexpr std::string_view kTokens = " in 10 cached 3 out 7 reasoning 2";

TEST(ResponsesDecoder, TextWithEverythingAroundIt) {
  std::string bytes = typed_frames(
      {R"({"type":"response.created","sequence_number":0,"response":{"status":"in_progress"}})",
       R"({"type":"response.in_progress"})", R"({"type":"response.new_thing","x":1})",
       R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message"}})",
       R"({"type":"response.content_part.added","output_index":0})", text_delta("Hel"),
       text_delta("lo"), R"({"type":"response.output_text.done","text":"Hello"})",
       done(0, kMessage), kCompleted});
  EXPECT_EQ(decode(provider(), cat(": hi\n\n", bytes, "data: [DONE]\n\n")),
            (Lines{"text Hel", "text lo", block(kMessage), cat("finished end_turn", kTokens)}));
}

TEST(ResponsesDecoder, LinesMayEndWithCrLfAndCodePointsMayBeSplit) {
  std::string bytes = cat("event: response.output_text.delta\r\ndata: ", text_delta("žluťoučký 🐎"),
                          "\r\n\r\ndata: ", kCompleted, "\r\n\r\n");
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text žluťoučký 🐎", cat("finished end_turn", kTokens)}));
}

TEST(ResponsesDecoder, OneEventOfAMegabyte) {
  std::string text(1U << 20U, 'a');
  EXPECT_EQ(decode(provider(), typed_frames({text_delta(text), kCompleted})),
            (Lines{cat("text ", text), cat("finished end_turn", kTokens)}));
}

TEST(ResponsesDecoder, TextOfAServerThatDoesNotStream) {
  EXPECT_EQ(decode(provider(), typed_frames({done(0, kMessage), kCompleted})),
            (Lines{"text Hello", block(kMessage), cat("finished end_turn", kTokens)}));
}

TEST(ResponsesDecoder, AnEmptyAnswerWithoutUsage) {
  EXPECT_EQ(decode(provider(), typed_frames({R"({"type":"response.completed","response":{}})"})),
            Lines{"finished end_turn in 0 cached 0 out 0 reasoning 0"});
}

TEST(ResponsesDecoder, ThoughtsThenACallThatClosesAtOnce) {
  std::string bytes = typed_frames(
      {R"({"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0})",
       R"({"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"One"})",
       R"({"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1})",
       R"({"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Two"})",
       done(0, kReasoning),
       R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"at"})",
       done(1, kCall), text_delta("and"), kCompleted});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought One", "thought \n\n", "thought Two", block(kReasoning), block(kCall),
                   R"(call call_1|look|{"at":1})", "text and", cat("finished tool_use", kTokens)}));
}

TEST(ResponsesDecoder, ThoughtsOfAnOpenModelAndNothingElseBeforeTheLimit) {
  std::string bytes =
      typed_frames({R"({"type":"response.reasoning_text.delta","output_index":0,"delta":"Hm"})",
                    done(0, kReasoning),
                    R"({"type":"response.incomplete","response":{"status":"incomplete",)"
                    R"("incomplete_details":{"reason":"max_output_tokens"}}})"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought Hm", block(kReasoning),
                   "finished max_tokens in 0 cached 0 out 0 reasoning 0"}));
}

TEST(ResponsesDecoder, ATurnThatBreaksIsReplayedUpToItsLastClosedCall) {
  std::string bytes =
      typed_frames({done(0, kReasoning), done(1, kCall), done(2, kReasoning), text_delta("and")});
  EXPECT_EQ(replayed(provider(), turn_of(provider(), bytes), "input"),
            parsed(cat(R"([{"role":"user","content":"Go"},)", kReasoning, ",", kCall,
                       R"(,{"type":"function_call_output","call_id":"call_1","output":"done",
                       "caller":"c"}])")));
}

TEST(ResponsesDecoder, TwoCallsInterleavedOneWithoutArgumentsOneInvalid) {
  std::string empty = R"({"type":"function_call","call_id":"b","name":"stop","arguments":""})";
  std::string invalid = R"({"type":"function_call","call_id":"a","name":"look","arguments":"[1"})";
  std::string bytes = typed_frames(
      {R"({"type":"response.function_call_arguments.delta","output_index":0,"delta":"[1"})",
       R"({"type":"response.output_item.added","output_index":1,"item":{}})", done(1, empty),
       done(0, invalid), kCompleted});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{block(empty), "call b|stop|", block(invalid), "call a|look|[1",
                   cat("finished tool_use", kTokens)}));
}

TEST(ResponsesDecoder, ACallWithoutAnIdGetsOneThatItsBlockHasToo) {
  std::string bytes = typed_frames(
      {done(4, R"({"type":"function_call","name":"stop","arguments":"{}"})"), kCompleted});
  EXPECT_EQ(
      decode(provider(), bytes),
      (Lines{block(R"({"type":"function_call","name":"stop","arguments":"{}","call_id":"call_4"})"),
             "call call_4|stop|{}", cat("finished tool_use", kTokens)}));
}

TEST(ResponsesDecoder, ACallCutByTheLimitIsNotMade) {
  std::string cut =
      R"({"type":"function_call","call_id":"a","name":"f","arguments":"{}","status":"incomplete"})";
  std::string bytes = typed_frames(
      {done(0, cut), R"({"type":"response.incomplete","response":{"status":"incomplete",)"
                     R"("incomplete_details":{"reason":"max_output_tokens"}}})"});
  EXPECT_EQ(decode(provider(), bytes),
            Lines{"finished max_tokens in 0 cached 0 out 0 reasoning 0"});
}

TEST(ResponsesDecoder, RefusalsAndFilters) {
  std::string refusal = R"({"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]})";
  EXPECT_EQ(decode(provider(), typed_frames({text_delta("So"), done(0, refusal), kCompleted})),
            (Lines{"text So", block(refusal), "failed refusal final 0 refusal: I cannot"}));
  EXPECT_EQ(decode(provider(), typed_frames({R"({"type":"response.refusal.delta","delta":"I can"})",
                                             R"({"type":"response.refusal.delta","delta":"not"})",
                                             done(0, refusal), kCompleted})),
            (Lines{block(refusal), "failed refusal final 0 refusal: I cannot"}));
  EXPECT_EQ(
      decode(provider(), typed_frames({R"({"type":"response.incomplete","response":)"
                                       R"({"incomplete_details":{"reason":"content_filter"}}})"})),
      Lines{"failed content_filter final 0 content_filter: the vendor filtered the answer out"});
}

TEST(ResponsesDecoder, ErrorsInTheStream) {
  EXPECT_EQ(decode(provider(),
                   typed_frames({R"({"type":"response.failed","response":{"error":)"
                                 R"({"code":"context_length_exceeded","message":"long"}}})"})),
            Lines{"failed context_window final 0 context_length_exceeded: long"});
  EXPECT_EQ(decode(provider(), typed_frames({R"({"type":"response.failed","response":{"error":)"
                                             R"({"code":"slow_down","message":"busy"}}})"})),
            Lines{"failed overloaded retryable 0 slow_down: busy"});
  EXPECT_EQ(decode(provider(), typed_frames({text_delta("a"),
                                             R"({"type":"error","code":"server_is_overloaded",)"
                                             R"("message":"busy","sequence_number":3})"})),
            (Lines{"text a", "failed overloaded retryable 0 server_is_overloaded: busy"}));
  EXPECT_EQ(decode(provider(),
                   "event: error\ndata: {\"error\":{\"type\":\"server_error\","
                   "\"message\":\"oh\"}}\n\n"),
            Lines{"failed server retryable 0 server_error: oh"});
  EXPECT_EQ(decode(provider(), typed_frames({R"({"type":"response.failed","response":{}})"})),
            Lines{"failed server retryable 0 : the model's server reports an error"});
}

TEST(ResponsesDecoder, AStreamWithoutItsMarkerHasFailed) {
  EXPECT_EQ(decode(provider(), ": ping\n\n: ping\n\n"),
            Lines{"failed server retryable 0 : the stream of the model broke off"});
  EXPECT_EQ(decode(provider(), typed_frames({done(0, kCall)})),
            (Lines{block(kCall), R"(call call_1|look|{"at":1})",
                   "failed server retryable 0 : the stream of the model broke off"}));
  EXPECT_EQ(decode(provider(), data_frames({"{"})),
            Lines{"failed server retryable 0 : the model's server sent invalid JSON"});
}

}  // namespace
}  // namespace errand::llm::responses_decoder_test
