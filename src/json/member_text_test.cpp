#include "json/member_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace errand::json::member_text_test {
namespace {

TEST(MemberText, IsTheValueAsItStands) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"tools":[1,2]})", "[1,2]"},
      {R"( { "a" : {"tools":3} , "tools" : [ "]", {"x":"\"]"} ] } )", R"([ "]", {"x":"\"]"} ])"},
      {R"({"a":"\\","tools":"t\\\""})", R"("t\\\"")"},
      {R"({"a":-1.5e3,"b":null,"tools":true})", "true"},
      {R"({"tools":7})", "7"},
      {"{\"tools\" :\n[\n]\n}", "[\n]"},
      {R"({"tools":""})", R"("")"},
      {R"({"a":[],"b":{},"tools":{}})", "{}"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(member_text(text, "tools"), value) << text;
}

TEST(MemberText, IsEmptyWhereThereIsNoSuchMember) {
  for (std::string text : {"", " ", "[]", "{}", R"({"a":{"tools":1}})", R"({"tool":1,"toolss":2})",
                           R"(["tools",1])", R"({"\u0074ools":1})", R"("tools")"}) {
    EXPECT_EQ(member_text(text, "tools"), "") << text;
  }
}

TEST(MemberText, EndsOnEveryCutText) {
  const std::string whole = R"({"a":"x\\\"","b":[{"c":"]"}],"tools":[{"d":"\""},[1,2]],"e":1})";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::string cut = whole.substr(0, size);
    EXPECT_LE(member_text(cut, "tools").size(), cut.size());
  }
  for (std::string odd : {"{\"", "{\"tools\"", "{\"tools\":", "{\"tools\":]", "{\"tools\":}}}",
                          "{\"a\":\\\"", "{\"\\", "{\"tools\":\"\\\""}) {
    EXPECT_LE(member_text(odd, "tools").size(), odd.size());
  }
}

}  // namespace
}  // namespace errand::json::member_text_test
