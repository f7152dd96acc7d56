#include "run/log/mail.hpp"

#include <gtest/gtest.h>

#include "json/write.hpp"

namespace errand::mail_test {
namespace {

LocalToolCall call(std::string args) {
  return {.id = ToolUseId::parse("tu_1").value(), .name = "look", .args = std::move(args)};
}

TEST(MailRequest, OfAPlainLocalCallIsItsArguments) {
  std::string request = to_mail_request(call(R"({"args":1,"kind":"x"})"));

  EXPECT_EQ(request, R"({"args":1,"kind":"x"})");
  EXPECT_EQ(json::write(parse_mail_request(request)),
            R"({"args":{"args":1,"kind":"x"},"kind":"local"})");
}

TEST(MailRequest, CarriesWhatGoesAlongWithTheCall) {
  LocalToolCall asked = call(R"({"path":"a"})");
  asked.kind = "mcp_local";
  asked.echo = std::make_shared<const json::Object>(
      json::Object{{"mcpServer", "fs"}, {"mcpServerInfo", {{"version", "1"}}}});

  std::string request = to_mail_request(asked);

  EXPECT_EQ(json::write(parse_mail_request(request)),
            R"({"args":{"path":"a"},"kind":"mcp_local","mcpServer":"fs",)"
            R"("mcpServerInfo":{"version":"1"}})");
}

TEST(MailRequest, OfAKindWithoutMoreIsToldApartFromAPlainOne) {
  LocalToolCall asked = call("{}");
  asked.kind = "a2a_local";

  EXPECT_EQ(json::write(parse_mail_request(to_mail_request(asked))),
            R"({"args":{},"kind":"a2a_local"})");
}

TEST(MailRequest, ThatIsNoneIsACallWithoutArguments) {
  for (const char* text : {"", "[", "7", "[{}]", "[{},7]"}) {
    EXPECT_EQ(json::write(parse_mail_request(text)), R"({"args":{},"kind":"local"})") << text;
  }
}

}  // namespace
}  // namespace errand::mail_test
