#pragma once

// A room whose participants are played by the test.

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "room/room.hpp"
#include "support/manual_clock.hpp"

namespace errand::room::test {

// Full rights to tools, and nothing else.
inline constexpr std::string_view kAgents = R"({"agents":{}})";

// Keeps what the room sends: "type#id header [attachment]", a line each.
class TestOutlet final : public Outlet {
 public:
  void send(const Message& message) override {
    std::string line = cat(message.type, "#", message.id, " ", message.header);
    if (!message.attachment.empty()) append(line, " [", message.attachment, "]");
    lines_.push_back(std::move(line));
  }
  void send_shared(const SharedMessage& message) override {
    send(message.message());
    shared.push_back(message.packets().back());
  }
  void send_watched(const Message& message, std::function<void()> written) override {
    send(message);
    unwritten.push_back(std::move(written));
  }
  void close(std::uint16_t code, std::string_view reason) override {
    lines_.push_back(cat("close ", code, " ", reason));
  }
  std::string take() {
    std::string all;
    for (const std::string& line : lines_) append(all, line, "\n");
    lines_.clear();
    return all;
  }
  // The connection takes the sent messages.
  void write() {
    for (const auto& written : std::exchange(unwritten, {})) written();
  }

  std::vector<std::function<void()>> unwritten;
  std::vector<std::shared_ptr<const std::string>> shared;  // the last packets of shared messages

 private:
  std::vector<std::string> lines_;
};

class RoomTest : public testing::Test {
 protected:
  // A client that is in the room, or was.
  struct Client {
    std::unique_ptr<TestOutlet> outlet = std::make_unique<TestOutlet>();
    std::string id;

    std::string take() const { return outlet->take(); }
  };

  struct Who {
    std::string name;
    std::string_view scope = kAgents;
    ClientGeneration generation = ClientGeneration::other;
    std::string key_id = "";
    std::optional<milliseconds> lives_for = {};
    std::string called_by = {};
    std::optional<WallTime> expires_at = {};
    std::string url = "ws://x/rooms/r";
  };

  Room& room() {
    if (!room_) {
      room_.emplace(Room::Options{.home = Home(io_),
                                  .name = "r",
                                  .session_id = "s1",
                                  .timers = timers_,
                                  .clock = clock_,
                                  .schemas = schemas_,
                                  .make_id = [this] { return cat("id", ++last_id_); },
                                  .limits = limits_,
                                  .store = store_,
                                  .make_file_url =
                                      [](const FileToRead& file, const Room::FileUrl& done) {
                                        done(cat(file.room_url, "/", file.path));
                                      },
                                  .call_agent = call_agent_,
                                  .spans = spans_});
    }
    return *room_;
  }

  Result<std::string> try_join(TestOutlet& outlet, const Who& who) {
    ParticipantToken token{.identity = {.project = "", .key_id = who.key_id, .name = who.name},
                           .room = "r",
                           .expires_at = who.expires_at,
                           .scope = parse_api_scope(json::parse(who.scope).value()).value(),
                           .api = std::string(who.scope)};
    token.identity.called_by = who.called_by;
    std::optional<Result<std::string>> id;
    on_home([&] {
      id = room().join({.token = token,
                        .generation = who.generation,
                        .url = who.url,
                        .outlet = outlet,
                        .lives_for = who.lives_for});
    });
    return std::move(*id);
  }
  // Joined, with the greetings read.
  Client join(const Who& who) {
    Client client;
    client.id = try_join(*client.outlet, who).value();
    client.take();
    return client;
  }
  void leave(const Client& client) {
    on_home([&] { room().leave(client.id); });
  }
  void send(const Client& client, std::uint64_t id, std::string_view type, std::string_view header,
            std::string_view attachment = "") {
    Message message{.id = id,
                    .type = std::string(type),
                    .header = std::string(header),
                    .attachment = std::string(attachment)};
    on_home([&] { room().receive(client.id, message); });
  }
  // What the room answers to a request.
  std::string ask(const Client& client, std::string_view type, std::string_view header) {
    send(client, 99, type, header);
    return client.take();
  }
  // Registers a toolkit with one tool, "run", of any input.
  void host(const Client& client, std::string_view toolkit, std::string_view more = "") {
    std::string answer =
        ask(client, "room.register_toolkit",
            cat(R"({"name":")", toolkit, R"(","public":true,"tools":{"run":{)", more, "}}}"));
    EXPECT_TRUE(answer.starts_with(R"(__response__#99 {"type":"json","json":{"id":)")) << answer;
  }

  template <class F>
  void on_home(F work) {
    Home(io_).post(work);
    io_.restart();
    io_.run();
  }

  asio::io_context io_{1};
  ManualTimers timers_;
  ManualClock clock_{1'800'000'000'000};
  json::SchemaCache schemas_;
  RoomLimits limits_;
  RoomStore* store_ = nullptr;
  std::function<void(AgentCall call, Room::AgentCalled done)> call_agent_;
  SpanSink* spans_ = nullptr;
  int last_id_ = 0;
  std::optional<Room> room_;
};

}  // namespace errand::room::test
