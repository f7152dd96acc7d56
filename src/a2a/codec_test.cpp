#include "a2a/codec.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"

namespace errand::a2a::codec_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSchema =
    fs::path(ERRAND_SOURCE_DIR) / ".." / "shared" / "data" / "a2a-schema" / "0.3.0.json";

Message question() {
  return {.id = "m1",
          .role = Role::user,
          .parts = {TextPart{"Hello"}, DataPart{json::Value(json::Object{{"n", 7}})},
                    FilePart{.name = "a.txt", .mime_type = "text/plain", .base64 = "aGk="},
                    FilePart{.mime_type = "image/png", .url = "https://example.com/a.png"}},
          .context_id = "c1",
          .task_id = "t1"};
}

Task whole_task() {
  Message said{.id = "m2",
               .role = Role::agent,
               .parts = {TextPart{"Working on it"}},
               .context_id = "c1",
               .task_id = "t1"};
  return {.id = "t1",
          .context_id = "c1",
          .status = {.state = TaskState::input_required,
                     .message = said,
                     .timestamp = "2026-11-16T10:00:00.000Z"},
          .artifacts = {{.id = "a1", .name = "Answer", .parts = {TextPart{"42"}}}},
          .history = {}};
}

std::vector<StreamEvent> all_events() {
  return {
      whole_task(), question(),
      StatusUpdate{.task_id = "t1", .context_id = "c1", .status = {.state = TaskState::completed}},
      ArtifactUpdate{.task_id = "t1",
                     .context_id = "c1",
                     .artifact = {.id = "a1", .parts = {TextPart{"more"}}},
                     .append = true,
                     .last_chunk = true}};
}

TEST(A2aCodec, WhatIsWrittenIsReadBackInBothVersions) {
  for (Version version : {Version::v03, Version::v10}) {
    for (const StreamEvent& event : all_events()) {
      json::Object text = event_json(event, version);
      auto read = parse_event(json::Value(text));
      ASSERT_TRUE(read) << json::write(text);
      EXPECT_EQ(*read, event) << json::write(text);
    }
  }
}

TEST(A2aCodec, TheVersionsHaveTheirOwnNames) {
  EXPECT_EQ(json::write(event_json(all_events()[2], Version::v03)),
            R"({"taskId":"t1","contextId":"c1","status":{"state":"completed"},)"
            R"("kind":"status-update","final":true})");
  EXPECT_EQ(json::write(event_json(all_events()[2], Version::v10)),
            R"({"statusUpdate":{"taskId":"t1","contextId":"c1",)"
            R"("status":{"state":"TASK_STATE_COMPLETED"}}})");
  EXPECT_EQ(method_of(Verb::stream, Version::v03), "message/stream");
  EXPECT_EQ(method_of(Verb::list, Version::v03), "");
  EXPECT_EQ(find_method("SubscribeToTask")->verb, Verb::subscribe);
  EXPECT_FALSE(find_method(""));
}

TEST(A2aCodec, MessagesOf03FitTheSchema) {
  std::ifstream file(kSchema);
  if (!file) GTEST_SKIP() << "the schemas are not beside this clone";
  std::string text((std::istreambuf_iterator<char>(file)), {});
  json::Object whole = json::parse(text)->as_object();
  const char* const names[] = {"Task", "Message", "TaskStatusUpdateEvent",
                               "TaskArtifactUpdateEvent"};
  for (const StreamEvent& event : all_events()) {
    json::Object schema = whole;
    schema["$ref"] = cat("#/definitions/", names[event.index()]);
    auto compiled = json::compile_schema(schema);
    ASSERT_TRUE(compiled) << compiled.error().describe();
    json::Value written(event_json(event, Version::v03));
    EXPECT_EQ(json::describe((*compiled)->validate(written)), "") << json::write(written);
  }
}

TEST(A2aCodec, WhatIsWrongHasAPointer) {
  auto message = parse_message(*json::parse(R"({"parts":[{"text":"a"},{"what":1}]})"), "/message");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().describe(),
            "expected a part with text, a file or data (at /message/parts/1)");
  EXPECT_FALSE(parse_event(*json::parse("[]")));
  EXPECT_FALSE(parse_event(*json::parse(R"({"task":{"id":""}})")));
}

TEST(A2aCodec, ACardOfEitherVersionNamesItsInterfaces) {
  auto card = parse_card(*json::parse(R"({"name":"A","url":"/rpc","protocolVersion":"0.3.0",
      "supportedInterfaces":[
        {"url":"http://h/grpc","protocolBinding":"GRPC","protocolVersion":"1.0"},
        {"url":"http://h/v1","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
      "capabilities":{"streaming":true}})"),
                         "http://h/.well-known/agent-card.json");
  ASSERT_TRUE(card) << card.error().describe();
  EXPECT_EQ(card->interfaces,
            (std::vector<Interface>{{.url = "http://h/v1", .version = Version::v10},
                                    {.url = "http://h/rpc", .version = Version::v03}}));
  EXPECT_TRUE(card->streaming);
  EXPECT_FALSE(parse_card(*json::parse(R"({"name":"A"})"), "http://h/"));
  EXPECT_FALSE(parse_card(*json::parse("7"), "http://h/"));
}

TEST(A2aCodec, AnInterfaceInTheListOfVersion1NeedsNoVersion) {
  auto card = parse_card(*json::parse(R"({"name":"A","supportedInterfaces":[
        {"url":"http://h/","protocolBinding":"JSONRPC"}]})"),
                         "http://h/.well-known/agent-card.json");
  ASSERT_TRUE(card) << card.error().describe();
  EXPECT_EQ(card->interfaces,
            (std::vector<Interface>{{.url = "http://h/", .version = Version::v10}}));
}

TEST(A2aTypes, ArtifactsGrowByTheirId) {
  Task task{.id = "t"};
  apply(task, ArtifactUpdate{.artifact = {.id = "a", .parts = {TextPart{"1"}}}});
  apply(task, ArtifactUpdate{.artifact = {.id = "a", .parts = {TextPart{"2"}}}, .append = true});
  apply(task, ArtifactUpdate{.artifact = {.id = "b", .parts = {TextPart{"3"}}}});
  apply(task, ArtifactUpdate{.artifact = {.id = "b", .parts = {TextPart{"4"}}}});
  EXPECT_EQ(task.artifacts,
            (std::vector<Artifact>{{.id = "a", .parts = {TextPart{"1"}, TextPart{"2"}}},
                                   {.id = "b", .parts = {TextPart{"4"}}}}));
}

}  // namespace
}  // namespace errand::a2a::codec_test
