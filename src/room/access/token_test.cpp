#include "room/access/token.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::room::token_test {
namespace {

constexpr std::string_view kSecret = "a-secret-of-more-than-32-bytes-for-tests";
constexpr WallTime kNow{milliseconds(1'800'000'000'000)};

std::string sign(std::string_view payload, std::string_view secret = kSecret) {
  return sign_token(json::parse(payload).value().as_object(), secret);
}

// What the token says, or why it is refused.
std::string judge(std::string_view text, std::string_view secret = kSecret) {
  auto read = read_token(text);
  if (!read) return read.error().message();
  auto token = verify_token(*read, secret, kNow);
  if (!token) return token.error().message();
  return cat(token->identity.name, " ", to_string(token->role), " in ", token->room,
             token->scope.agents ? " agents" : "");
}

TEST(ParticipantToken, SaysWhoJoinsWhat) {
  struct Row {
    std::string_view payload;
    std::string_view judged;
  };
  const Row rows[] = {
      {R"({"name":"ann","grants":[{"name":"room","scope":"r1"}]})", "ann user in r1"},
      {R"({"name":"ann","grants":[{"name":"room","scope":"r1"},{"name":"role","scope":"user"},
          {"name":"role","scope":"agent"},{"name":"role","scope":"tool"}]})",
       "ann agent in r1"},
      {R"({"name":"ann","grants":[{"name":"api","scope":{"agents":{}}},{"name":"room","scope":"r"},
          {"name":"tunnel_ports","scope":"1"}],"exp":1800000001,"more":[]})",
       "ann user in r agents"},
      {R"({"name":"ann","grants":[]})", "ann user in "},
      {R"({"name":"  ","grants":[]})", "the token has no name"},
      {R"({"grants":[]})", "the token has no name"},
      {R"({"name":"ann","exp":1800000000,"grants":[]})", "the token has expired"},
      {R"({"name":"ann","exp":"soon","grants":[]})", "\"exp\" of the token is not a number"},
      {R"({"name":"ann","nbf":1800000001.5,"grants":[]})", "the token is not valid yet"},
      {R"({"name":"ann","grants":[{"name":"room"}]})",
       "a grant of the token has no name or no scope"},
      {R"({"name":"ann","grants":[{"name":"room","scope":"a"},{"name":"room","scope":"b"}]})",
       "the token is for several rooms"},
      {R"({"name":"ann","grants":[{"name":"api","scope":{}},{"name":"api","scope":{}}]})",
       "the token has several api grants"},
      {R"({"name":"ann","grants":[{"name":"api","scope":{"agents":{"call":1}}}]})",
       "the token's api grant: expected true or false, got an integer (at /agents/call)"},
  };
  for (const Row& row : rows) EXPECT_EQ(judge(sign(row.payload)), row.judged) << row.payload;
}

TEST(ParticipantToken, IsRefusedUnlessItsSecretHasSignedIt) {
  constexpr std::string_view kWrong =
      "the token is signed with an unknown key, or its signature is wrong";
  std::string good = sign(R"({"name":"ann","grants":[]})");
  EXPECT_EQ(judge(good, "another"), kWrong);
  EXPECT_EQ(judge(sign(R"({"name":"ann","grants":[]})", ""), ""), kWrong);
  std::string changed = sign(R"({"name":"eve","grants":[]})", "another");
  std::string mixed = cat(changed.substr(0, changed.rfind('.')), good.substr(good.rfind('.')));
  EXPECT_EQ(judge(mixed), kWrong);
}

TEST(ParticipantToken, IsRefusedUnlessItIsOne) {
  EXPECT_EQ(judge(""), "the token is not a JWT");
  EXPECT_EQ(judge("a.b"), "the token is not a JWT");
  EXPECT_EQ(judge("e30.e30."), "the token is not signed with HS256");
  EXPECT_EQ(judge("bm9uZQ.e30."), "the token is not a JWT");
  // {"alg":"none"}
  EXPECT_EQ(judge("eyJhbGciOiJub25lIn0.e30."), "the token is not signed with HS256");
  EXPECT_EQ(judge(std::string(kTokenBytesMax + 1, 'a')), "the token is too long");
}

TEST(ParticipantToken, IsTheOneThatOthersSign) {
  // The example of jwt.io, signed by other software.
  std::string_view text =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
      "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
      "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
  EXPECT_EQ(judge(text, "your-256-bit-secret"), "John Doe user in ");
}

TEST(ApiKeys, AreWrittenAsClientsReadThem) {
  ApiKeyText key{.id = "fbf00c1e-0b4e-4d6c-8f4a-3f2f3b1c9e77",
                 .project = "00000000-0000-4000-8000-000000000001",
                 .secret = "se-cr-et"};
  std::string text = to_text(key).value();
  EXPECT_EQ(text, "ma-._AMHgtOTWyPSj8vOxyedw-AAAAAAAAQACAAAAAAAAAAQ-se-cr-et");
  EXPECT_EQ(parse_api_key(text), key);
  EXPECT_EQ(to_text({.id = "no", .project = key.project, .secret = "x"}), std::nullopt);
  EXPECT_EQ(parse_api_key("ma-x-y-z"), std::nullopt);
  EXPECT_EQ(parse_api_key(text.substr(0, text.find('-', 30) + 1)), std::nullopt);
}

TEST(RoomNames, AreLowerCaseWithHyphensInside) {
  EXPECT_TRUE(is_room_name("a"));
  EXPECT_TRUE(is_room_name("team-7"));
  EXPECT_TRUE(is_room_name(std::string(63, 'a')));
  for (std::string_view name : {"", "-a", "a-", "A", "a_b", "a/b", "a.b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_room_name(name)) << name;
  }
  EXPECT_FALSE(is_room_name(std::string(64, 'a')));
}

}  // namespace
}  // namespace errand::room::token_test
