#include <gtest/gtest.h>

#include "llm/openai/chat_provider.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm::chat_decoder_test {
namespace {

const ChatProvider& provider() {
  static const ChatProvider chat({.model = "m"});
  return chat;
}

std::string delta(std::string_view fields) {
  return cat(R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{)", fields,
             R"(},"finish_reason":null}]})");
}
std::string call_delta(std::string_view call) {
  return delta(cat(R"("tool_calls":[)", call, "]"));
}
std::string stop(std::string_view reason) {
  return cat(R"({"choices":[{"index":0,"delta":{},"finish_reason":")", reason, R"("}]})");
}
const std::string kUsage = R"({"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,)"
                           R"("prompt_tokens_details":{"cached_tokens":8},)"
                           R"("completion_tokens_details":{"reasoning_tokens":4}}})";
constexpr std::string_view kNoUsage = " in 0 cached 0 out 0 reasoning 0";

std::string finished(std::string_view reason) {
  return cat("finished ", reason, kNoUsage);
}

TEST(ChatDecoder, TextThenUsage) {
  std::string bytes =
      data_frames({delta(R"("role":"assistant","content":"")"), delta(R"("content":"Hel")"),
                   delta(R"("role":"assistant","content":"lo \u00e9")"), delta(R"("content":null)"),
                   stop("stop"), kUsage, "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text Hel", "text lo é", "finished end_turn in 20 cached 8 out 9 reasoning 4"}));
}

TEST(ChatDecoder, LinesMayEndWithCrLfAndCodePointsMayBeSplit) {
  std::string bytes = cat("data: ", delta(R"("content":"žluťoučký 🐎")"),
                          "\r\n\r\ndata: ", stop("stop"), "\r\n\r\ndata: [DONE]\r\n\r\n");
  EXPECT_EQ(decode(provider(), bytes), (Lines{"text žluťoučký 🐎", finished("end_turn")}));
}

TEST(ChatDecoder, EmptyAnswer) {
  EXPECT_EQ(decode(provider(), data_frames({stop("stop"), "[DONE]"})), Lines{finished("end_turn")});
}

TEST(ChatDecoder, FragmentsOfTwoCallsInterleave) {
  std::string bytes = data_frames(
      {call_delta(
           R"({"index":0,"id":"c1","type":"function","function":{"name":"a","arguments":""}})"),
       call_delta(
           R"({"index":1,"id":"c2","type":"function","function":{"name":"b","arguments":"{\"x"}})"),
       call_delta(R"({"index":0,"function":{"arguments":"{\"y\":"}})"),
       call_delta(R"({"index":1,"function":{"arguments":"\":1}"}},)"
                  R"({"index":0,"function":{"arguments":"2}"}})"),
       stop("tool_calls"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{R"(call c1|a|{"y":2})", R"(call c2|b|{"x":1})", finished("tool_use")}));
}

TEST(ChatDecoder, ArgumentsMayBeAbsentEmptyOrAnObject) {
  std::string bytes = data_frames(
      {call_delta(R"({"index":0,"id":"c1","function":{"name":"a"}})"),
       call_delta(R"({"index":1,"id":"c2","function":{"name":"b","arguments":""}})"),
       call_delta(R"({"index":2,"id":"c3","function":{"name":"c","arguments":"{}"}})"),
       call_delta(R"({"index":3,"id":"c4","function":{"name":"d","arguments":{"x":1}}})"),
       stop("tool_calls"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes), (Lines{"call c1|a|", "call c2|b|", "call c3|c|{}",
                                              R"(call c4|d|{"x":1})", finished("tool_use")}));
}

TEST(ChatDecoder, InvalidArgumentsArePassedOnAsTheyAre) {
  std::string bytes =
      data_frames({call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"[1"}})"),
                   call_delta(R"({"index":1,"id":"c2","function":{"name":"b","arguments":"[1]"}})"),
                   stop("tool_calls"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"call c1|a|[1", "call c2|b|[1]", finished("tool_use")}));
}

TEST(ChatDecoder, CallsWithoutIndexAreToldApartByIdOrName) {
  std::string bytes = data_frames(
      {call_delta(R"({"id":"c1","function":{"name":"a","arguments":"{\"x\""}})"),
       call_delta(R"({"function":{"arguments":":1}"}})"),
       call_delta(R"({"id":"c2","function":{"name":"b","arguments":"{"}})"),
       call_delta(R"({"id":"c2","function":{"arguments":"}"}})"),
       call_delta(R"({"function":{"name":"c","arguments":"{}"}})"), stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{R"(call c1|a|{"x":1})", "call c2|b|{}", "call |c|{}", finished("tool_use")}));
}

TEST(ChatDecoder, IndexZeroTwiceIsTwoCallsIfIdsOrWholeCallsDiffer) {
  std::string with_ids =
      data_frames({call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}})"),
                   call_delta(R"({"index":0,"id":"c2","function":{"name":"a","arguments":"{}"}})"),
                   stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), with_ids),
            (Lines{"call c1|a|{}", "call c2|a|{}", finished("tool_use")}));
  std::string without_ids =
      data_frames({call_delta(R"({"index":0,"function":{"name":"a","arguments":"{\"n\":1}"}})"),
                   call_delta(R"({"index":0,"function":{"name":"a","arguments":"{\"n\":2}"}})"),
                   stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), without_ids),
            (Lines{R"(call |a|{"n":1})", R"(call |a|{"n":2})", finished("tool_use")}));
}

TEST(ChatDecoder, AnIdOnEveryFragmentIsOneCall) {
  std::string bytes =
      data_frames({call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"{"}})"),
                   call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"}"}})"),
                   stop("tool_calls"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes), (Lines{"call c1|a|{}", finished("tool_use")}));
}

TEST(ChatDecoder, ACallCutByTheLimitIsNotMadeEvenIfItParses) {
  std::string bytes =
      data_frames({delta(R"("content":"I will")"),
                   call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}})"),
                   stop("length"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes), (Lines{"text I will", finished("max_tokens")}));
}

TEST(ChatDecoder, ThoughtsAreNeverText) {
  std::string bytes =
      data_frames({delta(R"("reasoning":"hm ")"), delta(R"("reasoning_content":"well")"),
                   delta(R"("content":"yes")"), stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought hm ", "thought well", "text yes", finished("end_turn")}));
}

TEST(ChatDecoder, ThinkTagsAtTheStartAreThoughts) {
  std::string bytes = data_frames({delta(R"("content":"\n<th")"), delta(R"("content":"ink>so <b")"),
                                   delta(R"("content":"> </thi")"), delta(R"("content":"nk>\n\n")"),
                                   delta(R"("content":"yes <think>")"), stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought so <b", "thought > ", "text yes <think>", finished("end_turn")}));
}

TEST(ChatDecoder, TextThatOnlyLooksLikeATagIsText) {
  EXPECT_EQ(decode(provider(), data_frames({delta(R"("content":"<thi")"), stop("stop")})),
            (Lines{"text <thi", finished("end_turn")}));
}

TEST(ChatDecoder, RefusalAndContentFilterFailForGood) {
  EXPECT_EQ(decode(provider(), data_frames({delta(R"("refusal":"I ca")"),
                                            delta(R"("refusal":"nnot")"), stop("stop"), "[DONE]"})),
            Lines{"failed refusal final 0 refusal: I cannot"});
  EXPECT_EQ(decode(provider(), data_frames({delta(R"("content":"So")"), delta(R"("refusal":"no")"),
                                            stop("stop"), "[DONE]"})),
            (Lines{"text So", "failed refusal final 0 refusal: no"}));
  EXPECT_EQ(decode(provider(),
                   data_frames({delta(R"("content":"So")"), stop("content_filter"), "[DONE]"})),
            (Lines{"text So",
                   "failed content_filter final 0 content_filter: the vendor filtered the answer "
                   "out"}));
}

TEST(ChatDecoder, CommentsAndUnknownThingsAreIgnored) {
  std::string bytes =
      cat(":\n\n: OPENROUTER PROCESSING\n\n",
          data_frames(
              {R"({"choices":[],"prompt_filter_results":[{"prompt_index":0}]})",
               R"({"choices":[{"index":1,"delta":{"content":"other"}},7,null]})",
               R"({"choices":[{"delta":{"content":"ok","new":[1]},"x":{}}],"timings":{"a":1.5}})",
               R"({"hello":"there"})", stop("eos_by_moonlight"), "[DONE]", "[DONE]"}));
  EXPECT_EQ(decode(provider(), bytes), (Lines{"text ok", finished("end_turn")}));
}

TEST(ChatDecoder, TheLastUsageCounts) {
  std::string bytes = data_frames({R"({"choices":[{"delta":{"content":"a"}}],)"
                                   R"("usage":{"prompt_tokens":5,"completion_tokens":1}})",
                                   R"({"choices":[{"delta":{},"finish_reason":"stop"}],)"
                                   R"("usage":{"prompt_tokens":5,"completion_tokens":2}})",
                                   R"({"choices":[],"usage":null})", "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text a", "finished end_turn in 5 cached 0 out 2 reasoning 0"}));
}

TEST(ChatDecoder, AnEndWithoutDoneIsFineAfterTheFinishReasonOnly) {
  EXPECT_EQ(decode(provider(), data_frames({delta(R"("content":"a")"), stop("stop")})),
            (Lines{"text a", finished("end_turn")}));
  std::string cut = data_frames(
      {delta(R"("content":"a")"),
       call_delta(R"({"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}})")});
  EXPECT_EQ(decode(provider(), cut),
            (Lines{"text a", "failed server retryable 0 : the stream of the model broke off"}));
  EXPECT_EQ(decode(provider(), ": waiting\n\n"),
            Lines{"failed server retryable 0 : the stream of the model broke off"});
}

TEST(ChatDecoder, ErrorsInTheStreamOfEveryShape) {
  EXPECT_EQ(
      decode(provider(),
             data_frames({R"({"error":{"message":"busy","type":"server_error","code":null}})"})),
      Lines{"failed server retryable 0 server_error: busy"});
  EXPECT_EQ(decode(provider(), data_frames({delta(R"("content":"a")"),
                                            R"({"error":{"code":503,"message":"Loading model",)"
                                            R"("type":"unavailable_error"}})",
                                            "[DONE]"})),
            (Lines{"text a", "failed overloaded retryable 503 unavailable_error: Loading model"}));
  EXPECT_EQ(decode(provider(), data_frames({R"({"error":"no model"})"})),
            Lines{"failed server retryable 0 : no model"});
  EXPECT_EQ(decode(provider(), "event: error\ndata: {\"message\":\"gone\"}\n\n"),
            Lines{"failed server retryable 0 : gone"});
  EXPECT_EQ(decode(provider(), data_frames({R"({"object":"error","message":"maximum context )"
                                            R"(length is 8 tokens","code":400})"})),
            Lines{"failed context_window final 400 : maximum context length is 8 tokens"});
  EXPECT_EQ(decode(provider(), data_frames({stop("error"), "[DONE]"})),
            Lines{"failed server retryable 0 : the model's server reports an error"});
  EXPECT_EQ(decode(provider(), data_frames({"<html>"})),
            Lines{"failed server retryable 0 : the model's server sent invalid JSON"});
}

TEST(ChatDecoder, ARateLimitInTheStreamSaysHowLongToWait) {
  auto decoder = provider().make_decoder(any_request());
  decoder->feed("message",
                R"({"error":{"code":"rate_limit_exceeded","message":"try again in 1.898s"}})");
  EXPECT_EQ(decoder->retry_after(), milliseconds(1898));
}

TEST(ChatDecoder, OneEventOfAMegabyte) {
  std::string text(1U << 20U, 'a');
  std::string bytes =
      data_frames({delta(cat(R"("content":")", text, R"(")")), stop("stop"), "[DONE]"});
  EXPECT_EQ(decode(provider(), bytes), (Lines{cat("text ", text), finished("end_turn")}));
}

TEST(ChatDecoder, TooManyCallsAreAFailure) {
  auto decoder = provider().make_decoder(any_request());
  Lines lines;
  for (std::size_t i = 0; i <= kAnswerCallsMax; ++i) {
    std::string call = cat(R"({"index":)", i, R"(,"function":{"name":"a"}})");
    add_lines(lines, decoder->feed("message", call_delta(call)));
  }
  add_lines(lines, decoder->finish());
  EXPECT_EQ(lines, Lines{"failed server retryable 0 : the model makes too many calls"});
}

// Each fragment could be the last of its call: looking at the whole text each time would take
// minutes.
TEST(ChatDecoder, ALongCallWhoseEveryFragmentHasTheNameIsReadInOneGo) {
  constexpr int kFragments = 30'000;
  auto decoder = provider().make_decoder(any_request());
  Lines lines;
  auto feed = [&](std::string_view arguments) {
    std::string call = cat(R"({"index":0,"function":{"name":"a","arguments":)",
                           json::write(json::Value(arguments)), "}}");
    add_lines(lines, decoder->feed("message", call_delta(call)));
  };
  feed(R"({"x":[{})");
  for (int i = 0; i < kFragments; ++i) feed(R"(,{"}":1})");
  feed("]}");
  feed(R"({"y":2})");
  add_lines(lines, decoder->feed("message", stop("tool_calls")));
  add_lines(lines, decoder->finish());
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].ends_with(R"(,{"}":1}]})")) << "the call ends where its arguments do";
  EXPECT_TRUE(lines[1].ends_with(R"(|a|{"y":2})")) << lines[1];
}

TEST(ChatDecoder, AnEventWithTooManyValuesIsAFailure) {
  std::string zeros = "0";
  for (std::size_t i = 0; i < json::kStrangersValuesMax; ++i) zeros += ",0";
  auto decoder = provider().make_decoder(any_request());
  Lines lines;
  add_lines(lines, decoder->feed("message", cat(R"({"x":[)", zeros, "]}")));
  EXPECT_EQ(lines,
            Lines{"failed server retryable 0 : the model's server sent too much at once: the "
                  "JSON has more than 250000 values"});
}

TEST(ChatDecoder, TheAnswerToolBecomesText) {
  ChatProvider chat({.model = "m", .output = OutputMechanism::answer_tool});
  TurnRequest request = any_request();
  request.output_schema = schema(R"({"type":"object"})");
  std::string bytes = data_frames(
      {delta(R"("content":"Here:")"),
       call_delta(
           R"({"index":0,"id":"c","function":{"name":"final_report","arguments":"{\"a\":1}"}})"),
       stop("tool_calls"), "[DONE]"});
  EXPECT_EQ(decode(chat, bytes, request), (Lines{R"(text {"a":1})", finished("end_turn")}));
}

}  // namespace
}  // namespace errand::llm::chat_decoder_test
