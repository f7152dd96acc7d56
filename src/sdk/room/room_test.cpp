#include <errand/room.hpp>
#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <atomic>
#include <future>

#include "sdk/room/test_room.hpp"

namespace errand::sdk::room_test {
namespace {

using namespace test_room;

TEST_F(RoomSdkTest, AToolkitIsHostedListedAndCalled) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  auto listed = caller.toolkits();

  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "calculator");
  EXPECT_EQ(listed[0].rules, std::vector<std::string>{"Add once."});
  EXPECT_EQ(listed[0].participant_id, host.participant_id());
  EXPECT_EQ(caller.name(), "lab");
  EXPECT_EQ(caller.call("calculator", "add", sum(2, 3)).text(), "5");
  EXPECT_EQ(caller.call_for<int>("calculator", "add", sum(2, 3)), 5);
}

TEST_F(RoomSdkTest, AToolKnowsItsCallerAndItsRoom) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  EXPECT_EQ(caller.call("calculator", "who").text(), "caller in lab of 1");
}

TEST_F(RoomSdkTest, AStoppedToolkitIsGone) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());
  hosted.stop();

  EXPECT_THROW(caller.call("calculator", "add", sum(1, 1)), v1::Error);
  EXPECT_TRUE(caller.toolkits().empty());
}

TEST_F(RoomSdkTest, AToolsFailureIsAResultAndWrongArgumentsAre) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  v1::ToolResult result = caller.call("calculator", "add", v1::JsonObject{{"a", "x"}});

  EXPECT_FALSE(result.ok());
}

// The same object wherever tools are wanted.
TEST_F(RoomSdkTest, OneToolkitAnswersRunsWorkersMcpClientsAndARoom) {
  std::atomic<int> calls = 0;
  const v1::Toolkit toolkit(
      {.name = "calc", .tools = {v1::tool("add", "Adds.", [&](const Sum& sum) {
                         ++calls;
                         return sum.a + sum.b;
                       })}});
  TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"add","args":{"a":2,"b":3}}]},{"text":["Done."]}]})");
  v1::Client client(server.options());
  EXPECT_EQ(client.run({.prompt = "Go.", .toolkits = {toolkit}}).text, "Done.");
  EXPECT_EQ(calls, 1);

  v1::Worker worker = client.serve(toolkit);
  EXPECT_EQ(client.run({.prompt = "Go.", .toolkits = {toolkit}, .answer_calls = false}).text,
            "Done.");
  worker.stop();
  EXPECT_EQ(worker.answered(), 1U);
  EXPECT_EQ(calls, 2);

  auto model = v1::scripted({{.calls = {{"calc_add", sum(2, 3)}}}, {.text = "Done."}});
  v1::Runtime runtime({.models = {{.id = "s", .model = model}}});
  runtime.run({.prompt = "Go.", .mcp_servers = {v1::mcp::Server(toolkit)}});
  EXPECT_EQ(model->questions().at(1).messages.back().results.at(0).text, "5");
  EXPECT_EQ(calls, 3);

  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(toolkit);
  EXPECT_EQ(caller.call("calc", "add", sum(2, 3)).text(), "5");
  EXPECT_EQ(calls, 4);
}

// Callers of a room are strangers to each other.
TEST_F(RoomSdkTest, AFailureCancelsNoCallOfAnotherCaller) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room ann = v1::Room::join(options("ann"));
  v1::Room ben = v1::Room::join(options("ben"));
  std::promise<void> begun;
  std::promise<void> failed;
  v1::Toolkit toolkit(
      {.name = "kit",
       .tools = {v1::tool("fail", "Fails.", []() -> std::string { throw std::runtime_error("no"); },
                          {.cancel_siblings_on_failure = true}),
                 v1::tool("wait", "Waits for the failure.", [&] {
                   begun.set_value();
                   failed.get_future().wait();
                   return std::string("done");
                 })}});
  v1::HostedToolkit hosted = host.host(toolkit);
  auto waiting = std::async(std::launch::async, [&] { return ben.call("kit", "wait").text(); });
  begun.get_future().wait();

  EXPECT_FALSE(ann.call("kit", "fail").ok());
  failed.set_value();

  EXPECT_EQ(waiting.get(), "done");
}

TEST_F(RoomSdkTest, MessagesReachTheOther) {
  std::promise<std::string> heard;
  v1::RoomOptions listening = options("listener");
  listening.on_message = [&](const v1::RoomMessage& message) {
    heard.set_value(cat(message.from.name, ": ", message.type));
  };
  v1::Room listener = v1::Room::join(std::move(listening));
  v1::Room talker = v1::Room::join(options("talker"));

  talker.send(listener.participant_id(), "note", v1::JsonObject{{"x", 1}});

  EXPECT_EQ(heard.get_future().get(), "talker: note");
}

TEST_F(RoomSdkTest, AToolLearnsForWhomItsCallerActsAndWhatItTells) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::Toolkit toolkit({.name = "calculator",
                       .tools = {v1::tool("who", "Says who calls.", [](v1::ToolContext& context) {
                         return cat(context.caller(), " for ", context.on_behalf_of(), " with ",
                                    context.caller_context().size());
                       })}});
  v1::HostedToolkit hosted = host.host(toolkit);

  v1::RoomCallOptions options{.on_behalf_of = "visitor",
                              .caller_context = v1::JsonObject{{"thread", "t"}}};

  EXPECT_EQ(caller.call("calculator", "who", {}, options).text(), "caller for visitor with 1");
}

TEST_F(RoomSdkTest, FilesAreKeptListedMovedAndRemoved) {
  v1::Room room = v1::Room::join(options("ann"));
  v1::RoomStorage files = room.storage();
  const std::string large(700'001, 'x');
  files.upload("in/large.txt", large, {.mime_type = "text/plain"});
  files.upload("in/empty", "");

  EXPECT_TRUE(files.exists("in"));
  EXPECT_FALSE(files.exists("out"));
  ASSERT_EQ(files.list("in").size(), 2U);
  EXPECT_EQ(files.list("in")[1].name, "large.txt");
  EXPECT_EQ(files.list("in")[1].size, large.size());
  EXPECT_TRUE(files.list().at(0).is_folder);
  EXPECT_EQ(files.stat("in/large.txt")->size, large.size());
  EXPECT_FALSE(files.stat("in/large.txt")->created_at.empty());
  EXPECT_FALSE(files.stat("none"));
  v1::RoomFileContent read = files.download("in/large.txt");
  EXPECT_EQ(read.name, "large.txt");
  EXPECT_EQ(read.mime_type, "text/plain");
  EXPECT_TRUE(read.bytes == large);
  EXPECT_EQ(files.download("in/empty").bytes, "");
  EXPECT_TRUE(files.download_url("in/empty").starts_with("http://"));
  files.move("in/large.txt", "out.txt");
  EXPECT_EQ(files.list("in").size(), 1U);
  files.remove("in", true);
  EXPECT_EQ(files.list().size(), 1U);
}

TEST_F(RoomSdkTest, ALargeFileGoesPieceByPieceEitherWay) {
  v1::Room room = v1::Room::join(options("ann"));
  constexpr int kPieces = 40;
  std::size_t left = kPieces;
  room.storage().upload("big", [&left](std::size_t bytes_max) {
    EXPECT_GE(bytes_max, 1000U);
    if (left == 0) return std::string();
    --left;
    return std::string(1000, static_cast<char>('a' + left % 26));
  });

  std::size_t pieces = 0;
  std::string bytes;
  room.storage().download("big", [&](std::string_view piece) {
    ++pieces;
    bytes += piece;
  });

  EXPECT_EQ(bytes.size(), kPieces * 1000U);
  EXPECT_EQ(bytes.front(), static_cast<char>('a' + (kPieces - 1) % 26));
  EXPECT_EQ(bytes.back(), 'a');
}

TEST_F(RoomSdkTest, FailuresOfFilesHaveTheirCodes) {
  v1::Room room = v1::Room::join(options("ann"));
  v1::RoomStorage files = room.storage();
  files.upload("a/b", "old");
  const auto failure = [](const std::function<void()>& work) -> std::string {
    try {
      work();
      return "none";
    } catch (const v1::Error& error) {
      return cat(v1::to_string(error.code()), " ", error.reason());
    }
  };

  EXPECT_EQ(failure([&] { files.download("none"); }), "not_found room_3001");
  EXPECT_EQ(failure([&] { files.remove("none"); }), "not_found room_3001");
  EXPECT_EQ(failure([&] { files.remove("a"); }), "conflict room_3002");
  EXPECT_EQ(failure([&] { files.upload("a/b", "new"); }), "conflict room_3005");
  EXPECT_EQ(failure([&] { files.stat("a/../b"); }), "invalid_argument room_3004");
  EXPECT_EQ(failure([&] {
              files.upload("short", [](std::size_t) { return std::string(); }, {.size = 10});
            }),
            "invalid_argument room_1002");
  EXPECT_EQ(failure([&] {
              files.upload("odd", [](std::size_t most) { return std::string(most + 1, 'x'); },
                           {.size = 10});
            }),
            "invalid_argument ");
  EXPECT_FALSE(files.exists("short"));
  EXPECT_FALSE(files.exists("odd"));
  EXPECT_EQ(files.download("a/b").bytes, "old");
  files.upload("a/b", "new", {.overwrite = true});
  EXPECT_EQ(files.download("a/b").bytes, "new");
}

TEST_F(RoomSdkTest, AReaderThatGivesUpLeavesTheRoomUsable) {
  v1::Room room = v1::Room::join(options("ann"));
  room.storage().upload("big", std::string(700'000, 'x'));
  for (int i = 0; i < 30; ++i) {  // more than may be on their way at once
    EXPECT_THROW(room.storage().download(
                     "big", [](std::string_view) { throw std::runtime_error("enough"); }),
                 std::runtime_error);
  }
  EXPECT_EQ(room.storage().download("big").bytes.size(), 700'000U);
}

TEST_F(RoomSdkTest, AWrongTokenIsRefused) {
  v1::RoomOptions wrong = options("stranger");
  wrong.token = "x.y.z";
  try {
    v1::Room room = v1::Room::join(std::move(wrong));
    FAIL();
  } catch (const v1::Error& error) {
    EXPECT_EQ(error.code(), v1::ErrorCode::forbidden);
  }
}

}  // namespace
}  // namespace errand::sdk::room_test
