#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "net/server/connection.hpp"

namespace errand::net {
namespace {

using boost::system::error_code;

constexpr std::string_view kKeepAlive = ": keep-alive\n\n";

// What one step of a stream sends: the head if it was not sent yet, the frames as one chunk, and
// the end of the body if the feed is over.
Outgoing to_outgoing(std::string head, EventFeed::Chunk chunk, bool chunked) {
  bool ended = chunk.state == EventFeed::State::ended;
  if (!chunked) return {std::move(head), std::move(chunk.frames), {}};
  if (chunk.frames.empty()) return {std::move(head), {}, ended ? "0\r\n\r\n" : ""};
  append_chunk_size(head, chunk.frames.size());
  return {std::move(head), std::move(chunk.frames), ended ? "\r\n0\r\n\r\n" : "\r\n"};
}

// Counts a stream while it lives.
class Counted final {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  ~Counted() { --count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace

Task<Connection::Next> Connection::stream(std::unique_ptr<EventFeed> feed, std::string head) {
  if (shared_.stopping) {
    reset();
    co_return Next::close;
  }
  Counted counted(shared_.event_streams);
  feed_ = std::move(feed);
  gone_ = false;
  // A stream may wait for hours, so it frees the memory that only reading needs.
  if (!reader_->has_bytes()) reader_.reset();
  enter(Phase::streaming, SteadyTime::max());
  feed_->on_cut([this] { reset(); });
  watch_for_leaving();

  // The first read does not wait: frames that are ready go out with the head.
  SteadyTime wait_until = std::chrono::steady_clock::now();
  for (;;) {
    EventFeed::Chunk chunk = co_await feed_->read(wait_until);
    EventFeed::State state = chunk.state;
    if (state == EventFeed::State::broken || gone_ || !socket_.is_open()) break;
    if (state == EventFeed::State::idle && head.empty()) chunk.frames = kKeepAlive;

    Outgoing out = to_outgoing(std::exchange(head, {}), std::move(chunk), !shape_.is_http10);
    bool sent = out.empty() || send_now(out);
    if (sent && !out.empty()) {
      feed_->release();
      sent = co_await send_rest(&out);
    }
    if (!sent || gone_) break;
    if (state == EventFeed::State::ended) {
      feed_.reset();
      error_code ignored;
      socket_.cancel(ignored);
      co_return next_after_answer();
    }
    enter(Phase::streaming, SteadyTime::max());
    wait_until = std::chrono::steady_clock::now() + shared_.limits.keep_alive_every;
  }
  reset();
  feed_.reset();
  co_return Next::close;
}

// A feed or a handler that has nothing to send does not touch the socket, so only a pending wait
// can notice that the client has left.
void Connection::watch_for_leaving() {
  socket_.async_wait(Socket::wait_read, [weak = weak_from_this()](error_code error) {
    std::shared_ptr<Connection> self = weak.lock();
    if (self && !error && (self->feed_ || self->when_left_)) self->on_readable();
  });
}

void Connection::on_readable() {
  char byte = 0;
  auto count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // The bytes are the client's next request: the client is alive, and the request waits for the end
  // of the stream.
  if (count > 0) return;
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return watch_for_leaving();
  on_left();
}

void Connection::on_left() {
  // A client that has closed only its sending side may still read; its handler just answers sooner.
  if (auto action = std::exchange(when_left_, nullptr)) return action();
  gone_ = true;
  feed_->interrupt();
}

}  // namespace errand::net
