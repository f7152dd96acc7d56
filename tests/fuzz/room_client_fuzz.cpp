// Bytes as what a room sends to its participant: whatever comes, the participant sends nothing but
// JSON, and everything that waits for the room ends with the connection. The first byte of each
// piece says what kind of message it is, and the second one how long. Built with -DERRAND_FUZZ=ON.

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "async/breath.hpp"
#include "async/timers.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "room/client/room_client.hpp"
#include "support/run_task.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kTypes[] = {"connected",
                                       "room_ready",
                                       "__response__",
                                       "room.tool_call.kit",
                                       "room.tool_call_request_chunk.kit",
                                       "room.tool_call_response_chunk",
                                       "messaging.send",
                                       "storage.file.updated"};

// The room is a made-up one, which ends with the input.
class FedConnection final : public Connection {
 public:
  explicit FedConnection(std::string_view data) : data_(data) {}

  Task<Result<Message>> read() override {
    co_await let_others_run();
    if (is_closed_ || data_.size() < 2) {
      co_return Error(ErrorCode::forbidden, "the end").reason(kDismissed);
    }
    const auto how = static_cast<unsigned char>(data_[0]);
    const std::size_t size =
        std::min<std::size_t>(static_cast<unsigned char>(data_[1]) * 4U, data_.size() - 2);
    Message message{.id = (how >> 5U) & 7U,
                    .type = std::string(kTypes[(how >> 2U) & 7U]),
                    .header = std::string(data_.substr(2, size)),
                    .attachment = (how & 1U) != 0 ? "bytes" : ""};
    data_.remove_prefix(2 + size);
    co_return message;
  }
  void send(const Message& message) override {
    if (!json::parse(message.header)) std::abort();
  }
  void close() override { is_closed_ = true; }
  Task<void> finish() override { co_return; }

 private:
  std::string_view data_;
  bool is_closed_ = false;
};

class OneConnection final : public Connector {
 public:
  explicit OneConnection(std::string_view data) : data_(data) {}

  Task<Result<std::shared_ptr<Connection>>> connect(Interrupt*) override {
    std::shared_ptr<Connection> connection = std::make_shared<FedConnection>(data_);
    co_return connection;
  }

 private:
  const std::string_view data_;
};

// Gives back each item of its input, or its input.
class EchoToolkit final : public HostedToolkit {
 public:
  json::Object registration() const override { return {{"name", "kit"}, {"public", true}}; }
  Task<Content> call(HostedCallPtr call) override {
    if (!is_open(call->params().arguments.header)) co_return call->params().arguments;
    call->open();
    while (auto item = co_await call->next_input()) call->write(*item);
    co_return empty_content();
  }
};

Task<void> play(RoomClient* client) {
  auto joined = co_await client->joined(SteadyTime::max());
  if (!joined) co_return;
  auto hosted = co_await client->host(std::make_shared<EchoToolkit>());
  auto listed = co_await client->list();
  auto call = client->invoke({.toolkit = "t",
                              .tool = "run",
                              .arguments = open_content(),
                              .on_progress = [](const json::Object&) {}});
  if (!call) co_return;
  auto answer = co_await (*call)->answer();
  if (!answer || !is_open(answer->header)) co_return;
  auto written = co_await (*call)->write(json_content(1));
  (*call)->close_input();
  for (;;) {
    auto item = co_await (*call)->next();
    if (!item || !*item) break;
  }
}

Task<void> take_part(RoomClient* client) {
  client->start();
  co_await play(client);
  co_await client->stop();
}

}  // namespace
}  // namespace errand::room

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace errand;
  asio::io_context io(1);
  ManualTimers timers;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  room::RoomClient client({.home = io.get_executor(),
                           .timers = timers,
                           .on_bug = [](const char*, const std::string&) { std::abort(); }},
                          {.connector = std::make_shared<room::OneConnection>(text),
                           .wants_messages = true,
                           .limits = {.calls_taken_max = 4, .peers_max = 4},
                           .on_message = [](const room::PeerMessage&) {},
                           .on_event = [](const room::Message&) {}});
  run_task(io, room::take_part(&client));
  return 0;
}
