#include "rpc/memory_connection.hpp"

#include "async/channel.hpp"

namespace errand::rpc {
namespace {

using Messages = Channel<std::string>;

class MemoryConnection final : public Connection {
 public:
  MemoryConnection(std::shared_ptr<Messages> in, std::shared_ptr<Messages> out)
      : in_(std::move(in)), out_(std::move(out)) {}
  ~MemoryConnection() override { close_both(); }

  Result<void> send(Outgoing message) override {
    switch (out_->try_send(std::move(message.text))) {
      case Messages::Sent::yes: return {};
      case Messages::Sent::closed:
        return Error(ErrorCode::unavailable, "the connection is closed").reason("closed");
      case Messages::Sent::full: break;
    }
    return Error(ErrorCode::too_large, "the peer does not read its messages").reason("peer_slow");
  }

  Task<Result<std::optional<Received>>> receive() override {
    std::shared_ptr<Messages> in = in_;
    std::optional<std::string> text = co_await in->receive();
    if (!text) co_return std::optional<Received>();
    co_return std::optional<Received>(std::move(*text));
  }

  void close() override { close_both(); }
  Task<void> join() override { co_return; }

 private:
  void close_both() {
    in_->close();
    out_->close();
  }

  std::shared_ptr<Messages> in_;
  std::shared_ptr<Messages> out_;
};

}  // namespace

std::pair<std::unique_ptr<Connection>, std::unique_ptr<Connection>> make_connection_pair(
    const Executor& home, MemoryLimits limits) {
  auto there = std::make_shared<Messages>(home, limits.messages_max);
  auto back = std::make_shared<Messages>(home, limits.messages_max);
  return {std::make_unique<MemoryConnection>(there, back),
          std::make_unique<MemoryConnection>(back, there)};
}

}  // namespace errand::rpc
