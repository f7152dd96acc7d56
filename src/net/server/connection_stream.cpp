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
std::unique_ptr<Outgoing> to_outgoing(std::string head, EventFeed::Chunk& chunk, bool chunked) {
  std::string_view end;
  if (chunked) {
    bool ended = chunk.state == EventFeed::State::ended;
    if (chunk.frames.empty()) {
      end = ended ? "0\r\n\r\n" : "";
    } else {
      append_chunk_size(head, chunk.frames.size());
      end = ended ? "\r\n0\r\n\r\n" : "\r\n";
    }
  }
  return std::make_unique<Outgoing>(std::move(head), std::move(chunk.frames), end);
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
  begin_stream(std::move(feed));
  // The first read does not wait: frames that are ready go out with the head.
  SteadyTime wait_until = std::chrono::steady_clock::now();
  for (;;) {
    EventFeed::Chunk chunk = co_await feed_->read(wait_until);
    if (chunk.state == EventFeed::State::broken || gone_ || !socket_.is_open()) break;
    std::unique_ptr<Outgoing> rest;
    bool sent = send_frames(chunk, head, rest);
    if (rest) {
      feed_->release();
      sent = co_await send_rest(rest.get());
    }
    if (!sent || gone_) break;
    if (chunk.state == EventFeed::State::ended) {
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

void Connection::begin_stream(std::unique_ptr<EventFeed> feed) {
  feed_ = std::move(feed);
  gone_ = false;
  // A stream may wait for hours, so it frees the memory that only reading needs.
  if (!reader_->has_bytes()) reader_.reset();
  enter(Phase::streaming, SteadyTime::max());
  feed_->on_cut([this] { reset(); });
  watch_for_leaving();
}

bool Connection::send_frames(EventFeed::Chunk& chunk, std::string& head,
                             std::unique_ptr<Outgoing>& rest) {
  if (chunk.state == EventFeed::State::idle && head.empty()) chunk.frames = kKeepAlive;
  rest = to_outgoing(std::exchange(head, {}), chunk, !shape_.is_http10);
  bool sent = rest->empty() || send_now(*rest);
  if (!sent || rest->empty()) rest.reset();
  return sent;
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
