#include "net/server/connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "async/breath.hpp"
#include "base/text.hpp"

namespace errand::net {
namespace {

using boost::system::error_code;

// At most this many requests that are in the buffer already are answered at a stretch; then other
// connections of the home get their turn.
constexpr int kServedInARowMax = 16;
constexpr int kFirstErrorStatus = 400;

// Bodies up to this size are copied behind their head, which is cheaper than sending a second
// buffer.
constexpr std::size_t kCopiedBodyBytesMax = 4096;

constexpr std::size_t kDrainReadBytes = 16U * 1024;

// The holder of bodies from clients that sent no key and whose address is not known. No key and no
// address looks like this.
constexpr std::string_view kNobodyKnown = "(unknown)";

SteadyTime after(milliseconds duration) {
  return std::chrono::steady_clock::now() + duration;
}

Error too_slow() {
  return Error(ErrorCode::timeout, "the request did not arrive in time").reason("request_timeout");
}

}  // namespace

Connection::Connection(Socket socket, ConnectionsShared& shared)
    : socket_(std::move(socket)), shared_(shared) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  auto peer = socket_.remote_endpoint(ignored);
  from_loopback_ = !ignored && peer.address().is_loopback();
  shared_.connections.push_back(this);
  listed_ = std::prev(shared_.connections.end());
}

Connection::~Connection() {
  // A stream that a failure cut off must not look as if it had ended.
  if (feed_) set_linger_zero();
  if (websocket_) websocket_->drop();
  close();
  shared_.connections.erase(listed_);
  if (shared_.on_left) shared_.on_left();
}

Task<void> Connection::run(std::shared_ptr<Connection> self) {
  for (;;) {
    if (!self->reader_) {
      self->reader_ = std::make_unique<RequestReader>(self->shared_.limits, self->shared_.bodies,
                                                      self->shared_.ids);
    }
    bool is_whole = co_await self->read_request();
    if (!is_whole) co_return;

    Answer answer = co_await self->call_handler();
    Next next = co_await self->give(std::move(answer));
    if (next == Next::drain) co_await self->drain();
    if (next != Next::request) co_return;

    if (++self->served_in_a_row_ >= kServedInARowMax) {
      self->served_in_a_row_ = 0;
      co_await asio::post(self->socket_.get_executor(), use_task);
    }
  }
}

// Returns when a whole request is there or was refused. If the client has gone, the socket is
// closed when this returns.
Task<bool> Connection::read_request() {
  for (;;) {
    Result<RequestReader::State> state = reader_->advance();
    std::unique_ptr<Response> refusal = refusal_of(state);
    if (refusal) {
      co_await refuse(std::move(refusal));
      co_return false;
    }
    if (*state == RequestReader::State::whole) co_return true;

    if (*state == RequestReader::State::body && reader_->take_expectation()) co_await go_on();
    begin_wait(*state);
    served_in_a_row_ = 0;
    std::span<char> room = reader_->prepare();
    auto [error, count] =
        co_await socket_.async_read_some(asio::buffer(room.data(), room.size()), as_result);
    if (error || !socket_.is_open()) {
      if (expired_ && phase_ != Phase::idle && socket_.is_open()) {
        co_await refuse(std::make_unique<Response>(shared_.render_error(too_slow())));
      } else {
        close();
      }
      co_return false;
    }
    expired_ = false;
    reader_->commit(count);
  }
}

Task<void> Connection::go_on() {
  Outgoing out("HTTP/1.1 100 Continue\r\n\r\n", {}, {});
  bool sent = send_now(out);
  if (sent && !out.empty()) sent = co_await send_rest(&out);
  if (!sent) close();
}

std::unique_ptr<Response> Connection::refusal_of(const Result<RequestReader::State>& state) {
  std::optional<Response> refusal;
  if (!state) {
    refusal = shared_.render_error(state.error());
  } else if (*state == RequestReader::State::body && phase_ != Phase::body) {
    refusal = admit();
  }
  return refusal ? std::make_unique<Response>(std::move(*refusal)) : nullptr;
}

std::optional<Response> Connection::admit() {
  Result<BodyTerms> terms = BodyTerms();
  if (shared_.admit) terms = shared_.admit(reader_->partial().request);
  if (!terms) return shared_.render_error(terms.error());
  if (terms->refusal) return std::move(*terms->refusal);
  Result<void> held = hold_body(std::move(*terms));
  if (!held) return shared_.render_error(held.error());
  return std::nullopt;
}

Result<void> Connection::hold_body(BodyTerms terms) {
  std::vector<std::string> holders;
  error_code error;
  auto peer = socket_.remote_endpoint(error);
  if (!error && !shared_.behind_proxy) holders.push_back(peer.address().to_string());
  // Clients without a key and with unknown addresses share one client's memory.
  if (terms.holder.empty() && holders.empty()) terms.holder = kNobodyKnown;
  if (!terms.holder.empty()) holders.push_back(std::move(terms.holder));
  if (terms.bytes_max) ERRAND_CHECK(reader_->limit_body(*terms.bytes_max));
  return reader_->hold_body_for(std::move(holders));
}

void Connection::begin_wait(RequestReader::State state) {
  const ServerLimits& limits = shared_.limits;
  switch (state) {
    case RequestReader::State::idle: return enter(Phase::idle, after(limits.idle_timeout));
    case RequestReader::State::head:
      if (phase_ != Phase::head) request_deadline_ = after(limits.head_timeout);
      return enter(Phase::head, request_deadline_);
    case RequestReader::State::body:
      if (phase_ != Phase::body) {
        body_begun_ = after(milliseconds(0));
        request_deadline_ = after(limits.request_timeout);
      }
      return enter(Phase::body,
                   std::min({request_deadline_, after(limits.body_timeout), slow_body_deadline()}));
    case RequestReader::State::whole: return;
  }
}

// The moment when the body is too slow on average if nothing more arrives.
SteadyTime Connection::slow_body_deadline() const {
  const ServerLimits& limits = shared_.limits;
  const std::size_t bytes = reader_->partial().request.body.size();
  return body_begun_ + limits.body_timeout +
         milliseconds(bytes * 1000 / limits.body_bytes_per_second_min);
}

Task<Connection::Answer> Connection::call_handler() {
  ReceivedRequest received = reader_->take();
  shape_ = {.request_id = received.request.id,
            .is_http10 = received.is_http10,
            .keep_alive = received.keep_alive,
            .head_only = received.request.method == Method::head};
  enter(Phase::handling, SteadyTime::max());
  ++shared_.requests;
  received.request.from_loopback = from_loopback_;
  // A client that has already sent its next request is still there.
  if (!reader_->has_bytes()) {
    received.request.when_left = [weak = weak_from_this()](std::function<void()> action) {
      std::shared_ptr<Connection> self = weak.lock();
      if (!self) return;
      self->when_left_ = std::move(action);
      self->watch_for_leaving();
    };
  }
  FailedRequest told{.id = received.request.id,
                     .method = to_string(received.request.method),
                     .path = received.request.path};
  const SteadyTime begun = std::chrono::steady_clock::now();
  Response response = co_await handle(std::move(received.request));
  stop_watching();
  const SteadyTime answered = std::chrono::steady_clock::now();
  shared_.durations.observe(answered - begun);
  if (response.status >= kFirstErrorStatus && !response.is_not_yet) {
    told.status = response.status;
    told.what = std::move(response.failure);
    shared_.failures.tell(told, answered);
  }
  if (response.upgrade) co_return Answer{.upgrade = std::move(response.upgrade)};
  std::string head = render(response);
  co_return Answer{.head = std::move(head),
                   .body = std::move(response.body),
                   .events = std::move(response.events)};
}

Task<Response> Connection::handle(Request request) {
  std::string bug;
  try {
    co_return co_await shared_.handler(std::move(request));
  } catch (const std::exception& failure) {
    bug = failure.what();
  }
  // When a stop unwinds the handler by force, the connection is cut already.
  if (socket_.is_open()) {
    shared_.log.error(
        "a request handler failed",
        {{.key = "what", .value = bug}, {.key = "requestId", .value = shape_.request_id}});
  }
  co_return shared_.render_error(Error(ErrorCode::internal, "the server has a bug here"));
}

void Connection::stop_watching() {
  if (!std::exchange(when_left_, nullptr)) return;
  error_code ignored;
  socket_.cancel(ignored);
}

// Writes the head of the answer, and leaves in `response` only what follows the head.
std::string Connection::render(Response& response) {
  shape_.keep_alive = shape_.keep_alive && !shared_.stopping;
  bool has_events = response.events != nullptr;
  if (has_events && shape_.is_http10 && !shape_.head_only) shape_.keep_alive = false;
  std::string head = has_events ? render_stream_head(response, shape_, shared_.date.now())
                                : render_head(response, shape_, shared_.date.now());
  if (shape_.head_only || has_events || !has_body(response.status)) response.body.clear();
  if (shape_.head_only) response.events.reset();
  return head;
}

// Not a coroutine: what only other kinds of answers need takes no memory while a stream is open.
Task<Connection::Next> Connection::give(Answer answer) {
  if (answer.upgrade) return serve_websocket(std::move(answer.upgrade));
  if (answer.events) return stream(std::move(answer.events), std::move(answer.head));
  return send(std::move(answer.head), std::move(answer.body));
}

Task<Connection::Next> Connection::send(std::string head, std::string body) {
  if (body.size() <= kCopiedBodyBytesMax) {
    head += body;
    body.clear();
  }
  Outgoing out(std::move(head), std::move(body), {});
  bool sent = send_now(out);
  if (sent && !out.empty()) sent = co_await send_rest(&out);
  co_return sent ? next_after_answer() : Next::close;
}

Connection::Next Connection::next_after_answer() const {
  if (shape_.keep_alive && !shared_.stopping) return Next::request;
  // Closing a socket with unread input resets the connection, perhaps before the client has read
  // the answer.
  error_code ignored;
  bool unread = (reader_ && reader_->has_bytes()) || socket_.available(ignored) > 0;
  return unread ? Next::drain : Next::close;
}

Task<void> Connection::refuse(std::unique_ptr<Response> response) {
  const ReceivedRequest& partial = reader_->partial();
  shape_ = {.request_id = partial.request.id.empty() ? shared_.ids.next() : partial.request.id,
            .is_http10 = partial.is_http10,
            .keep_alive = false,
            .head_only = partial.request.method == Method::head};
  FailedRequest told{.id = shape_.request_id,
                     .method = to_string(partial.request.method),
                     .path = partial.request.path};
  reader_.reset();
  told.status = response->status;
  told.what = response->failure;
  shared_.failures.tell(told, std::chrono::steady_clock::now());
  std::string head = render(*response);
  Outgoing out(std::move(head), std::move(response->body), {});
  bool sent = send_now(out);
  if (sent && !out.empty()) sent = co_await send_rest(&out);
  if (sent) co_await drain();
}

Task<void> Connection::drain() {
  error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  enter(Phase::draining, after(kDrainTime));
  auto memory = std::make_unique_for_overwrite<char[]>(kDrainReadBytes);
  std::size_t drained = 0;
  while (!error && !expired_ && drained < kDrainBytesMax) {
    auto [failed, count] =
        co_await socket_.async_read_some(asio::buffer(memory.get(), kDrainReadBytes), as_result);
    error = failed;
    drained += count;
  }
  close();
}

bool Connection::send_now(Outgoing& out) {
  error_code error;
  const Outgoing::Buffers next = out.next();
  std::size_t count = out.is_one_piece() ? socket_.write_some(next.front(), error)
                                         : socket_.write_some(next, error);
  out.advance(count);
  is_full_ = count < asio::buffer_size(next);
  return !error || error == asio::error::would_block || error == asio::error::try_again;
}

Task<bool> Connection::send_rest(Outgoing* out) {
  UnsentBytes::Share unsent(shared_.unsent, [this] { reset(); });
  while (!out->empty()) {
    if (is_full_) out->free_sent();
    unsent.set(out->held());
    enter(Phase::writing, after(shared_.limits.write_timeout));
    if (is_full_) {
      auto [error] = co_await socket_.async_wait(Socket::wait_write, as_result);
      if (error) co_return false;
    } else {
      co_await let_others_run();
    }
    if (!send_now(*out)) co_return false;
  }
  enter(Phase::handling, SteadyTime::max());
  co_return true;
}

void Connection::enter(Phase phase, SteadyTime deadline) {
  phase_ = phase;
  deadline_ = deadline;
  expired_ = false;
}

void Connection::expire() {
  deadline_ = SteadyTime::max();
  if (phase_ == Phase::writing) return reset();
  expired_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::stop() {
  if (feed_ || websocket_ || phase_ == Phase::idle) reset();
}

void Connection::reset() {
  if (websocket_) return websocket_->drop();
  set_linger_zero();
  close();
  if (feed_) feed_->interrupt();
}

void Connection::set_linger_zero() {
  error_code ignored;
  socket_.set_option(Socket::linger(true, 0), ignored);
}

void Connection::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace errand::net
