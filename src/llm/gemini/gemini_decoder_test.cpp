#include <gtest/gtest.h>

#include "llm/gemini/gemini_provider.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm::gemini_decoder_test {
namespace {

const GeminiProvider& provider() {
  static const GeminiProvider gemini({.model = "m"});
  return gemini;
}

std::string parts(std::string_view json) {
  return cat(R"({"candidates":[{"content":{"role":"model","parts":[)", json, R"(]},"index":0}]})");
}
std::string stop(std::string_view reason) {
  return cat(R"({"candidates":[{"content":{},"finishReason":")", reason,
             R"("}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,)",
             R"("candidatesTokenCount":3,"thoughtsTokenCount":2,"toolUsePromptTokenCount":1}})");
}
std::string block(std::string_view json) {
  return cat(R"(block {"provider":"gemini","model":"m","block":)", json, "}");
}
constexpr std::string_view kTokens = " in 11 cached 4 out 5 reasoning 2";

TEST(GeminiDecoder, TextsInARowBecomeOnePart) {
  std::string bytes = data_frames({parts(R"({"text":"Hm","thought":true})"),
                                   parts(R"({"text":"Hel"},{"text":"lo"})"),
                                   parts(R"({"text":" é"})"), R"({"newThing":1})", stop("STOP")});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"thought Hm", "text Hel", block(R"({"text":"Hm","thought":true})"), "text lo",
                   "text  é", block(R"({"text":"Hello é"})"), cat("finished end_turn", kTokens)}));
}

TEST(GeminiDecoder, LinesMayEndWithCrOrCrLf) {
  std::string crlf =
      cat("data: ", parts(R"({"text":"a"})"), "\r\n\r\ndata: ", stop("STOP"), "\r\n\r\n");
  std::string cr = cat("data: ", parts(R"({"text":"a"})"), "\r\rdata: ", stop("STOP"), "\r\r");
  Lines expected{"text a", block(R"({"text":"a"})"), cat("finished end_turn", kTokens)};
  EXPECT_EQ(decode(provider(), crlf), expected);
  EXPECT_EQ(decode(provider(), cr), expected);
}

TEST(GeminiDecoder, OneEventOfAMegabyte) {
  std::string part = cat(R"({"text":")", std::string(1U << 20U, 'a'), R"("})");
  EXPECT_EQ(decode(provider(), data_frames({parts(part), stop("STOP")})),
            (Lines{cat("text ", std::string(1U << 20U, 'a')), block(part),
                   cat("finished end_turn", kTokens)}));
}

TEST(GeminiDecoder, ASignatureStaysOnThePartItCameIn) {
  std::string bytes =
      data_frames({parts(R"({"text":"a"})"), parts(R"({"text":"","thoughtSignature":"c2ln"})"),
                   parts(R"({"text":"b"})"), stop("STOP")});
  EXPECT_EQ(
      decode(provider(), bytes),
      (Lines{"text a", block(R"({"text":"a"})"), block(R"({"text":"","thoughtSignature":"c2ln"})"),
             "text b", block(R"({"text":"b"})"), cat("finished end_turn", kTokens)}));
}

TEST(GeminiDecoder, ParallelCallsWithoutIdsAndWithTheFirstOneSigned) {
  std::string first =
      R"({"functionCall":{"name":"look","args":{"at":1}},"thoughtSignature":"c2ln"})";
  std::string second = R"({"functionCall":{"name":"stop"}})";
  std::string third = R"({"functionCall":{"id":"f3","name":"go","args":{}}})";
  std::string bytes = data_frames(
      {parts(R"({"text":"So"})"), parts(cat(first, ",", second)), parts(third), stop("STOP")});
  EXPECT_EQ(decode(provider(), bytes),
            (Lines{"text So", block(R"({"text":"So"})"), block(first), R"(call |look|{"at":1})",
                   block(second), "call |stop|", block(third), "call f3|go|{}",
                   cat("finished tool_use", kTokens)}));
}

TEST(GeminiDecoder, ATurnThatBreaksIsReplayedUpToItsLastClosedCall) {
  std::string first =
      R"({"functionCall":{"name":"look","args":{"at":1}},"thoughtSignature":"c2ln"})";
  std::string second = R"({"functionCall":{"name":"stop","args":{}}})";
  std::string bytes = data_frames({parts(R"({"text":"Hm","thought":true})"),
                                   parts(cat(first, ",", second)), parts(R"({"text":"and"})")});
  EXPECT_EQ(replayed(provider(), turn_of(provider(), bytes), "contents"),
            parsed(cat(R"([{"role":"user","parts":[{"text":"Go"}]},
      {"role":"model","parts":[{"text":"Hm","thought":true},)",
                       first, ",", second, R"(]},
      {"role":"user","parts":[
        {"functionResponse":{"name":"look","response":{"output":"done"}}},
        {"functionResponse":{"name":"stop","response":{"output":"done"}}}]}])")));
}

TEST(GeminiDecoder, ArgumentsThatAreNoObjectArePassedOn) {
  std::string call = R"({"functionCall":{"name":"look","args":[1]}})";
  EXPECT_EQ(decode(provider(), data_frames({parts(call), stop("STOP")})),
            (Lines{block(call), "call |look|[1]", cat("finished tool_use", kTokens)}));
}

TEST(GeminiDecoder, TheLimitIsATruncationAndAnEmptyAnswerAFailure) {
  EXPECT_EQ(decode(provider(), data_frames({parts(R"({"text":"a"})"), stop("MAX_TOKENS")})),
            (Lines{"text a", block(R"({"text":"a"})"), cat("finished max_tokens", kTokens)}));
  EXPECT_EQ(decode(provider(), data_frames({stop("STOP")})),
            Lines{"failed server retryable 0 empty_answer: the model's answer is empty"});
  EXPECT_EQ(decode(provider(), data_frames({parts(R"({"text":"a"})"),
                                            R"({"candidates":[{"finishReason":"NEW_WORD"}]})"})),
            (Lines{"text a", block(R"({"text":"a"})"),
                   "finished end_turn in 0 cached 0 out 0 reasoning 0"}));
}

TEST(GeminiDecoder, FiltersMishapsAndContinuations) {
  EXPECT_EQ(decode(provider(), data_frames({stop("SAFETY")})),
            Lines{"failed content_filter final 0 SAFETY: the vendor filtered the answer out"});
  EXPECT_EQ(decode(provider(), data_frames({R"({"promptFeedback":{"blockReason":"BLOCKLIST"}})"})),
            Lines{"failed content_filter final 0 BLOCKLIST: the vendor blocks the prompt"});
  for (std::string_view reason : {"MALFORMED_FUNCTION_CALL", "CONTINUATION"}) {
    EXPECT_EQ(
        decode(provider(), data_frames({stop(reason)})),
        Lines{cat("failed server retryable 0 ", reason, ": the model did not finish its answer")});
  }
}

TEST(GeminiDecoder, ErrorsAndCuts) {
  std::string error =
      R"({"error":{"code":503,"message":"busy","status":"UNAVAILABLE","details":[{"@type":)"
      R"("type.googleapis.com/google.rpc.RetryInfo","retryDelay":"39s"}]}})";
  EXPECT_EQ(decode(provider(), data_frames({parts(R"({"text":"a"})"), error, stop("STOP")})),
            (Lines{"text a", "failed overloaded retryable 503 UNAVAILABLE: busy"}));
  auto decoder = provider().make_decoder(any_request());
  decoder->feed("message", error);
  EXPECT_EQ(decoder->retry_after(), milliseconds(39'000));
  std::string broken = "failed server retryable 0 : the stream of the model broke off";
  EXPECT_EQ(decode(provider(), data_frames({parts(R"({"text":"a"})")})), (Lines{"text a", broken}));
  EXPECT_EQ(decode(provider(), cat(error, "\n\n")), Lines{broken});
  EXPECT_EQ(decode(provider(), ": hi\n\n"), Lines{broken});
}

TEST(GeminiDecoder, TheAnswerToolBecomesText) {
  TurnRequest request{.tools = share_decls({{.name = "look"}}),
                      .output_schema = schema(R"({"type":"object"})")};
  std::string call = R"({"functionCall":{"name":"final_report","args":{"n":1}}})";
  EXPECT_EQ(decode(provider(), data_frames({parts(call), stop("STOP")}), request),
            (Lines{R"(text {"n":1})", cat("finished end_turn", kTokens)}));
}

}  // namespace
}  // namespace errand::llm::gemini_decoder_test
