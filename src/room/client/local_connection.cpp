#include "room/client/local_connection.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "async/wakeup.hpp"
#include "base/text.hpp"

namespace errand::room {
namespace {

constexpr std::uint16_t kSentAwayForGood = 1000;

// What the room sends to the participant, kept until the participant reads it.
class Inbox final : public Outlet {
 public:
  explicit Inbox(const Executor& home) : bell_(home) {}

  void send(const Message& message) override { add({.message = message}); }
  void send_shared(const SharedMessage& message) override { add({.message = message.message()}); }
  void send_watched(const Message& message, std::function<void()> written) override {
    add({.message = message, .read = std::move(written)});
  }

  void close(std::uint16_t code, std::string_view reason) override {
    if (code != kSentAwayForGood) return end({ErrorCode::unavailable, std::string(reason)});
    end(Error(ErrorCode::forbidden, cat("the room has sent this participant away",
                                        reason.empty() ? "" : cat(": ", reason)))
            .reason(Connection::kDismissed));
  }

  void end(Error error) {
    if (!end_) end_ = std::move(error);
    bell_.notify();
  }
  bool is_over() const { return end_.has_value(); }

  // Messages that were sent before the end can still be read.
  Task<Result<Message>> read() {
    while (queue_.empty() && !end_) co_await bell_.wait();
    if (queue_.empty()) co_return *end_;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    bytes_ -= size_of(item.message);
    if (item.read) item.read();
    co_return std::move(item.message);
  }

 private:
  struct Item {
    Message message;
    std::function<void()> read = {};  // called once the participant has the message
  };

  void add(Item item) {
    if (end_) return;
    bytes_ += size_of(item.message);
    if (bytes_ > kLocalQueueBytesMax) {
      return end({ErrorCode::unavailable, "the participant did not read what the room has sent"});
    }
    queue_.push_back(std::move(item));
    bell_.notify();
  }

  static std::size_t size_of(const Message& message) {
    return message.type.size() + message.header.size() + message.attachment.size();
  }

  std::deque<Item> queue_;
  std::size_t bytes_ = 0;
  std::optional<Error> end_;
  Wakeup bell_;
};

class LocalConnection final : public Connection {
 public:
  LocalConnection(const Executor& home, std::shared_ptr<Room> room)
      : room_(std::move(room)), inbox_(home) {}
  ~LocalConnection() override { leave(); }
  LocalConnection(const LocalConnection&) = delete;
  LocalConnection& operator=(const LocalConnection&) = delete;

  Result<void> join(ParticipantToken token, std::string url) {
    auto joined = room_->join({.token = std::move(token), .url = std::move(url), .outlet = inbox_});
    if (joined) {
      id_ = std::move(*joined);
      return {};
    }
    room_.reset();
    return std::move(joined).error();
  }

  Task<Result<Message>> read() override {
    auto message = co_await inbox_.read();
    if (!message) leave();
    co_return message;
  }

  void send(const Message& message) override {
    if (inbox_.is_over() || !room_) return;
    const std::shared_ptr<Room> room = room_;
    room->receive(id_, message);
  }

  void close() override {
    inbox_.end({ErrorCode::unavailable, "the connection to the room is over"});
    leave();
  }

  Task<void> finish() override {
    close();
    co_return;
  }

 private:
  void leave() {
    if (auto room = std::exchange(room_, nullptr)) room->leave(id_);
  }

  std::shared_ptr<Room> room_;  // null once the participant has left
  std::string id_;
  Inbox inbox_;
};

}  // namespace

Result<std::shared_ptr<Connection>> join_locally(const Executor& home, std::shared_ptr<Room> room,
                                                 ParticipantToken token, std::string url) {
  auto connection = std::make_shared<LocalConnection>(home, std::move(room));
  ERRAND_CHECK(connection->join(std::move(token), std::move(url)));
  return std::shared_ptr<Connection>(std::move(connection));
}

}  // namespace errand::room
