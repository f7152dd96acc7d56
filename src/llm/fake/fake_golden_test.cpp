// The bytes of one turn in each format, as they stand in goldens/. A change there is a change of
// what users' programs read.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "llm/fake/test_formats.hpp"

namespace errand::llm::fake_golden_test {
namespace {

std::string golden(const std::string& name) {
  std::ifstream in(ERRAND_SOURCE_DIR "/src/llm/fake/goldens/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Text, and two calls side by side.
const Answered& answered() {
  static const Answered one(
      R"({"text":["Let me ","look."],
          "toolCalls":[{"name":"read_file","args":{"path":"notes/today.txt"}},
                       {"name":"list_files"}],
          "usage":{"inputTokens":10,"cachedTokens":4,"outputTokens":8}})",
      R"({"stream_options":{"include_usage":true},"instructions":"Be brief."})");
  return one;
}

TEST(FakeGolden, Chat) {
  EXPECT_EQ(answered().streamed(*make_fake_chat()), golden("chat.txt"));
  EXPECT_EQ(answered().whole(*make_fake_chat()) + "\n", golden("chat.json"));
}

TEST(FakeGolden, Responses) {
  EXPECT_EQ(answered().streamed(*make_fake_responses()), golden("responses.txt"));
  EXPECT_EQ(answered().whole(*make_fake_responses()) + "\n", golden("responses.json"));
}

TEST(FakeGolden, Anthropic) {
  EXPECT_EQ(answered().streamed(*make_fake_anthropic()), golden("anthropic.txt"));
  EXPECT_EQ(answered().whole(*make_fake_anthropic()) + "\n", golden("anthropic.json"));
}

TEST(FakeGolden, Gemini) {
  EXPECT_EQ(answered().streamed(*make_fake_gemini()), golden("gemini.txt"));
  EXPECT_EQ(answered().whole(*make_fake_gemini()) + "\n", golden("gemini.json"));
}

}  // namespace
}  // namespace errand::llm::fake_golden_test
