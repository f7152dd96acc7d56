#include "mcp/server/stdio_server_connection.hpp"

#include <utility>

#include "base/text.hpp"
#include "mcp/limits.hpp"
#include "mcp/server/server_session.hpp"

namespace errand::mcp {
namespace {

// Wakes its waiter when the client is gone.
class StdioSession final : public rpc::Handler {
 public:
  StdioSession(const Executor& home, rpc::Handler& handler) : handler_(handler), over_(home) {}

  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest* served) override {
    return handler_.handle(std::move(request), served);
  }
  void notice(rpc::Notification notification) override { handler_.notice(std::move(notification)); }
  void ended(const Error& why) override {
    handler_.ended(why);
    is_over_ = true;
    over_.notify();
  }

  Task<void> wait() {
    while (!is_over_) co_await over_.wait();
  }

 private:
  rpc::Handler& handler_;
  bool is_over_ = false;
  Wakeup over_;
};

}  // namespace

Result<std::unique_ptr<StdioServerConnection>> StdioServerConnection::open(const Executor& home,
                                                                           int input, int output) {
  ERRAND_TRY(auto streams, process::LineStreams::open(home, input, output, kMessageBytesMax));
  return std::unique_ptr<StdioServerConnection>(new StdioServerConnection(std::move(streams)));
}

Result<void> StdioServerConnection::send(rpc::Outgoing message) {
  return streams_->send(std::move(message.text));
}

Task<Result<std::optional<rpc::Received>>> StdioServerConnection::receive() {
  for (;;) {
    std::optional<process::Line> line = co_await streams_->receive();
    if (!line) co_return std::optional<rpc::Received>();
    if (line->is_cut) {
      co_return std::optional<rpc::Received>(rpc::Oversized{
          .head = std::move(line->text), .tail = std::move(line->tail), .bytes = line->bytes});
    }
    if (!trim(line->text).empty()) co_return std::optional<rpc::Received>(std::move(line->text));
  }
}

Task<Result<void>> serve_stdio(ServerFeatures* features, int input, int output,
                               TaskGroup::OnBug on_bug) {
  ServerSession session(*features);
  auto served = co_await serve_stdio(&session, input, output, std::move(on_bug));
  co_return served;
}

Task<Result<void>> serve_stdio(rpc::Handler* handler, int input, int output,
                               TaskGroup::OnBug on_bug, OnPeer on_peer) {
  Executor home = co_await asio::this_coro::executor;
  ERRAND_CO_TRY(auto connection, StdioServerConnection::open(home, input, output));
  StdioSession session(home, *handler);
  rpc::Peer peer(home, *connection, session, std::move(on_bug),
                 {.batches = rpc::Batches::accepted,
                  .noise = rpc::PeerOptions::Noise::answered,
                  .finish_time = kFinishTime});
  peer.start();
  on_peer(&peer);
  co_await session.wait();
  on_peer(nullptr);
  co_await peer.stop();
  co_return Result<void>();
}

}  // namespace errand::mcp
