// What the fake formats stream, read by the decoders of the same formats.
#include <gtest/gtest.h>

#include "llm/fake/encoding.hpp"
#include "llm/fake/test_formats.hpp"
#include "support/decode_stream.hpp"
#include "support/vendor_providers.hpp"

namespace errand::llm::fake_stream_test {
namespace {

struct Vendor {
  const char* name;
  std::unique_ptr<FakeFormat> (*make)();
  const Provider& (*provider)();
  const char* call_prefix;
};

void PrintTo(const Vendor& vendor, std::ostream* out) {
  *out << vendor.name;
}

class FakeStreamTest : public testing::TestWithParam<Vendor> {
 protected:
  // What the decoder makes of the streamed turn, without the vendor's own blocks.
  Lines events_of(std::string_view turn) const {
    Answered answered(turn, R"({"stream_options":{"include_usage":true}})");
    Lines lines = decode(GetParam().provider(), answered.streamed(*format_));
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("block "); });
    return lines;
  }

  std::string call(int index, std::string_view rest) const {
    return cat("call ", GetParam().call_prefix, "_s0_", index, "|", rest);
  }
  bool is_gemini() const { return GetParam().name == std::string_view("gemini"); }

  const std::unique_ptr<FakeFormat> format_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(
    Formats, FakeStreamTest,
    testing::Values(Vendor{"chat", make_fake_chat, chat_provider, "call"},
                    Vendor{"responses", make_fake_responses, responses_provider, "call"},
                    Vendor{"anthropic", make_fake_anthropic, anthropic_provider, "toolu"},
                    Vendor{"gemini", make_fake_gemini, gemini_provider, "call"}),
    [](const auto& info) { return info.param.name; });

TEST_P(FakeStreamTest, ATurnWithEverythingComesBack) {
  EXPECT_EQ(events_of(R"({"thinking":["hm, ","well"],"text":["Let me ","lóok.\n"],
                          "toolCalls":[{"name":"look","args":{"path":"a \"b\" \u2028"}},
                                       {"name":"look","args":{"path":"c","deep":[1,{"x":2.5}]}}],
                          "usage":{"inputTokens":10,"cachedTokens":3,"outputTokens":7,
                                   "reasoningTokens":2}})"),
            (Lines{"thought hm, ", "thought well", "text Let me ", "text lóok.\n",
                   call(0, "look|{\"path\":\"a \\\"b\\\" \u2028\"}"),
                   call(1, R"(look|{"path":"c","deep":[1,{"x":2.5}]})"),
                   "finished tool_use in 10 cached 3 out 7 reasoning 2"}));
}

TEST_P(FakeStreamTest, TextAlone) {
  EXPECT_EQ(events_of(R"({"text":["Hello"],"usage":{"inputTokens":4,"outputTokens":1}})"),
            (Lines{"text Hello", "finished end_turn in 4 cached 0 out 1 reasoning 0"}));
}

TEST_P(FakeStreamTest, ACallWithoutArguments) {
  Lines lines = events_of(R"({"toolCalls":[{"name":"stop","args":{}}]})");
  EXPECT_EQ(lines,
            (Lines{call(0, "stop|{}"), "finished tool_use in 0 cached 0 out 0 reasoning 0"}));
}

TEST_P(FakeStreamTest, ArgumentsThatAreNoJson) {
  Lines lines = events_of(R"({"toolCalls":[{"name":"look","rawArgs":"{\"path\":"}]})");
  if (is_gemini()) {
    EXPECT_EQ(lines, Lines{"failed server retryable 0 MALFORMED_FUNCTION_CALL: the model did not "
                           "finish its answer"});
  } else {
    EXPECT_EQ(lines, (Lines{call(0, R"(look|{"path":)"),
                            "finished tool_use in 0 cached 0 out 0 reasoning 0"}));
  }
}

TEST_P(FakeStreamTest, LongArgumentsComeInFewFragments) {
  std::string text(10'000, 'x');
  EXPECT_EQ(events_of(cat(R"({"toolCalls":[{"name":"put","args":{"text":")", text, R"("}}]})")),
            (Lines{call(0, cat(R"(put|{"text":")", text, R"("})")),
                   "finished tool_use in 0 cached 0 out 0 reasoning 0"}));
  EXPECT_LE(fragments_of(text).size(), kFragmentsMax);
}

TEST_P(FakeStreamTest, AnAnswerThatTheLimitCuts) {
  EXPECT_EQ(events_of(R"({"text":["Once upon"],"finishReason":"max_tokens"})"),
            (Lines{"text Once upon", "finished max_tokens in 0 cached 0 out 0 reasoning 0"}));
}

TEST_P(FakeStreamTest, AnAnswerThatIsFiltered) {
  Lines lines = events_of(R"({"text":["So"],"finishReason":"content_filter"})");
  std::string_view name = GetParam().name;
  std::string filtered = "the vendor filtered the answer out";
  std::string end = name == "anthropic"
                        ? "failed refusal final 0 refusal: the model refuses to answer"
                    : is_gemini() ? cat("failed content_filter final 0 SAFETY: ", filtered)
                                  : cat("failed content_filter final 0 content_filter: ", filtered);
  EXPECT_EQ(lines, (Lines{"text So", end}));
}

TEST_P(FakeStreamTest, EveryPieceIsOneStep) {
  Answered answered(R"({"thinking":["a"],"text":["b","c"],"toolCalls":[{"name":"d"}]})");
  FakeStream stream = format_->stream(answered.answer());
  EXPECT_EQ(stream.pieces.size(), 4U);
  Lines cut = decode(GetParam().provider(), stream.opening + stream.pieces[0] + stream.pieces[1]);
  std::erase_if(cut, [](const std::string& line) { return line.starts_with("block "); });
  EXPECT_EQ(cut, (Lines{"thought a", "text b",
                        "failed server retryable 0 : the stream of the model broke off"}));
}

TEST_P(FakeStreamTest, TheVendorsErrorsAreUnderstood) {
  auto verdict_on = [&](int status, std::string code) {
    std::string body =
        format_->error({.status = status, .code = std::move(code), .message = "no", .seed = "s0"});
    ApiFailure failure = GetParam().provider().classify({.status = status, .body = body});
    EXPECT_EQ(failure.failure.message, "no");
    return failure.failure.error_class;
  };
  EXPECT_EQ(verdict_on(400, ""), "invalid_request");
  EXPECT_EQ(verdict_on(401, ""), "auth");
  EXPECT_EQ(verdict_on(429, ""), "rate_limit");
  EXPECT_EQ(verdict_on(500, ""), "server");
  EXPECT_EQ(verdict_on(503, ""), "overloaded");
  EXPECT_EQ(verdict_on(529, "overloaded_error"), "overloaded");
}

TEST(FakeStream, ARefusalGoesWhereTheVendorSaysIt) {
  Answered refused(R"({"text":["I can","not"],"finishReason":"refusal"})");
  std::string end = "failed refusal final 0 refusal: I cannot";
  EXPECT_EQ(decode(chat_provider(), refused.streamed(*make_fake_chat())), Lines{end});
  EXPECT_EQ(decode(responses_provider(), refused.streamed(*make_fake_responses())).back(), end);
}

TEST(FakeStream, FragmentsKeepCharactersWhole) {
  std::string text = "1234567890abcdeäö";
  EXPECT_EQ(fragments_of(text), (std::vector<std::string_view>{"1234567890abcde", "äö"}));
  EXPECT_EQ(fragments_of(""), std::vector<std::string_view>());
  std::string broken(20, '\xbf');
  EXPECT_EQ(fragments_of(broken).size(), 2U);
}

}  // namespace
}  // namespace errand::llm::fake_stream_test
