#include <utility>

#include "net/server/connection.hpp"

namespace errand::net {
namespace {

// Counts a WebSocket while it lives.
class CountedSocket final {
 public:
  explicit CountedSocket(std::size_t& count) : count_(count) { ++count_; }
  ~CountedSocket() { --count_; }
  CountedSocket(const CountedSocket&) = delete;
  CountedSocket& operator=(const CountedSocket&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace

// A client has to wait for the answer before it sends frames; a client that does not wait is
// refused.
Task<Connection::Next> Connection::serve_websocket(std::unique_ptr<Upgrade> upgrade) {
  if (shared_.stopping) {
    reset();
    co_return Next::close;
  }
  if (reader_->has_bytes()) {
    const Error error = Error(ErrorCode::invalid_argument,
                              "the client sent data before the WebSocket handshake was answered")
                            .reason("bad_request");
    co_await refuse(std::make_unique<Response>(shared_.render_error(error)));
    co_return Next::close;
  }
  CountedSocket counted(shared_.web_sockets);
  reader_.reset();
  enter(Phase::upgraded, SteadyTime::max());
  websocket_ =
      std::make_shared<WebSocketStream>(std::move(socket_), upgrade->limits, upgrade->compression);
  auto accepted = co_await websocket_->accept(std::move(upgrade->headers), upgrade->protocol);
  if (!accepted) co_return Next::close;
  auto session = std::move(upgrade->session);
  upgrade.reset();
  Task<void> running = session(websocket_);
  session = nullptr;  // frees what the function holds
  co_await std::move(running);
  co_await websocket_->finish();
  co_return Next::close;
}

}  // namespace errand::net
