#include "run/tools/room_ref.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/spec.hpp"

namespace errand::room_ref_test {
namespace {

json::Value read(std::string_view text) {
  return json::parse(text).value();
}

TEST(RoomMembers, ARoomIsANameOrAUrlWithAToken) {
  Spec own = parse_spec(read(R"({"prompt":"Hi","room":"lab"})")).value();
  EXPECT_EQ(own.room, RoomPlace{.name = "lab"});

  Spec other =
      parse_spec(read(R"({"prompt":"Hi","room":{"url":"wss://x/rooms/lab","token":"t"}})")).value();
  EXPECT_EQ(other.room, (RoomPlace{.url = "wss://x/rooms/lab", .token = "t"}));
}

TEST(RoomMembers, RequirementsAreReadAndWritten) {
  json::Value body = read(
      R"({"prompt":"Hi","tools":[],"room":"lab","requiredToolkits":[{"toolkit":"crm"},
          {"toolkit":"erp","tools":["a","b"],"participantName":"clerk","timeoutMs":0}]})");

  Spec spec = parse_spec(body).value();

  EXPECT_EQ(spec.required_toolkits[1], (RequiredToolkit{.toolkit = "erp",
                                                        .tools = std::vector<std::string>{"a", "b"},
                                                        .participant_name = "clerk",
                                                        .timeout = milliseconds(0)}));
  EXPECT_EQ(json::write(json::Value(to_json(spec, Origin::wire))), json::write(body));
  EXPECT_TRUE(spec.warnings.empty());
}

TEST(RoomMembers, MistakesHaveTheirPlace) {
  auto pointer = [](const std::string& members) {
    std::string body = R"({"prompt":"Hi",)" + members + "}";
    auto spec = parse_spec(read(body));
    return spec ? "no error" : spec.error().pointer();
  };
  EXPECT_EQ(pointer(R"("room":"")"), "/room");
  EXPECT_EQ(pointer(R"("room":7)"), "/room");
  EXPECT_EQ(pointer(R"("room":{"url":"ftp://x","token":"t"})"), "/room/url");
  EXPECT_EQ(pointer(R"("room":{"url":"wss://x"})"), "/room/token");
  const std::string large(kRoomTokenBytesMax + 1, 't');
  EXPECT_EQ(pointer(R"("room":{"url":"wss://x","token":")" + large + R"("})"), "/room/token");
  EXPECT_EQ(pointer(R"("requiredToolkits":{})"), "/requiredToolkits");
  EXPECT_EQ(pointer(R"("requiredToolkits":[{}])"), "/requiredToolkits/0/toolkit");
  EXPECT_EQ(pointer(R"("requiredToolkits":[{"toolkit":"a","tools":[]}])"),
            "/requiredToolkits/0/tools");
  EXPECT_EQ(pointer(R"("requiredToolkits":[{"toolkit":"a","timeoutMs":-1}])"),
            "/requiredToolkits/0/timeoutMs");
}

TEST(RoomMembers, AJournaledRefKeepsAllOfIt) {
  ToolRef ref = RoomRef{.name = "lab", .participant = "helper", .required = {{.toolkit = "crm"}}};
  json::Value written(to_json(ref));

  auto again = parse_tool_ref(written, "", Origin::journal).value();

  EXPECT_EQ(json::write(json::Value(to_json(again))), json::write(written));
  EXPECT_TRUE(is_required(again));
  EXPECT_FALSE(parse_tool_ref(written, "", Origin::wire));
}

}  // namespace
}  // namespace errand::room_ref_test
