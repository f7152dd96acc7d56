#pragma once

// Fixtures for the tests of this folder: a server on a thread of its own, and a client that sends
// and receives raw bytes.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <cerrno>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "async/home.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "net/server/http_server.hpp"

namespace errand::net::test {

// Far enough away that a passing test never meets it.
inline SteadyTime soon() {
  return std::chrono::steady_clock::now() + seconds(20);
}

// One io_context on one background thread.
class Loop final {
 public:
  Loop() : thread_([this] { io_.run(); }) {}
  ~Loop() {
    work_.reset();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Home home() { return Home(io_); }

  // Runs a task, or a function, on the home and waits for it.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    run(keep_result(std::move(task), &result));
    return std::move(*result);
  }
  void run(Task<void> task) { asio::co_spawn(io_, std::move(task), asio::use_future).get(); }
  template <class F>
  auto call(F work) {
    std::packaged_task<decltype(work())()> packaged(std::move(work));
    auto done = packaged.get_future();
    home().post([&packaged] { packaged(); });
    return done.get();
  }

 private:
  template <class T>
  static Task<void> keep_result(Task<T> task, std::optional<T>* result) {
    result->emplace(co_await std::move(task));
  }

  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::thread thread_;
};

inline int status_of(const Error& error) {
  if (error.reason() == "headers_too_large") return 431;
  if (error.reason() == "method_not_allowed") return 405;
  if (error.reason() == "expectation_failed") return 417;
  switch (error.code()) {
    case ErrorCode::invalid_argument: return 400;
    case ErrorCode::not_found: return 404;
    case ErrorCode::timeout: return 408;
    case ErrorCode::too_large: return 413;
    case ErrorCode::unsupported: return 501;
    case ErrorCode::unavailable: return 503;
    default: return 500;
  }
}

// The body is "reason" or "reason limit=max", so that one comparison shows all of it.
inline Response render_test_error(const Error& error) {
  Response response;
  response.status = status_of(error);
  response.content_type = "text/plain";
  response.body = error.reason().empty() ? to_string(error.code()) : error.reason();
  if (!error.limit().empty()) append(response.body, " ", error.limit(), "=", error.max());
  return response;
}

class TestServer final {
 public:
  explicit TestServer(Handler handler, ServerLimits limits = {})
      : TestServer({.handler = std::move(handler), .limits = limits}) {}
  // The errors of all of them look the same.
  explicit TestServer(HttpServer::Options options)
      : null_(::open("/dev/null", O_WRONLY | O_CLOEXEC)),
        log_(clock_, null_, LogFormat::text),
        server_(loop_.home(), with_test_errors(std::move(options)), log_) {
    auto endpoint = loop_.call([this] { return server_.listen("127.0.0.1", 0); });
    port_ = endpoint.value().port;
  }
  ~TestServer() {
    stop(std::chrono::steady_clock::now());
    ::close(null_);
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::uint16_t port() const { return port_; }
  Loop& loop() { return loop_; }
  HttpServer::Counts counts() {
    return loop_.call([this] { return server_.counts(); });
  }
  void stop(SteadyTime deadline) { loop_.run(server_.stop(deadline)); }
  std::future<void> stop_async(SteadyTime deadline) {
    return std::async(std::launch::async, [this, deadline] { stop(deadline); });
  }
  // Waits until the counts are as `expected` says. Asks again and again: counts ring no bell.
  void wait_for(const std::function<bool(const HttpServer::Counts&)>& expected) {
    while (!expected(counts())) std::this_thread::yield();
  }

 private:
  static HttpServer::Options with_test_errors(HttpServer::Options options) {
    options.render_error = render_test_error;
    return options;
  }

  Loop loop_;
  SystemClock clock_;
  int null_;
  Log log_;
  HttpServer server_;
  std::uint16_t port_ = 0;
};

// An answer as it came over the wire.
struct RawResponse {
  int status = 0;
  std::string head;
  std::string body;

  std::string header(std::string_view name) const {
    for (std::size_t begin = head.find("\r\n"); begin < head.size();) {
      std::size_t end = head.find("\r\n", begin + 2);
      std::string_view line(head.data() + begin + 2, std::min(end, head.size()) - begin - 2);
      std::size_t colon = std::min(line.find(':'), line.size());
      if (equals_ignoring_case(line.substr(0, colon), name)) {
        return std::string(trim(line.substr(std::min(colon + 1, line.size()))));
      }
      begin = end;
    }
    return {};
  }
};

// How a connection ended, from the client's side.
enum class End { open, closed, reset, timed_out };

// A blocking client that speaks bytes. Nothing waits longer than 20 seconds.
class RawClient final {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    EXPECT_TRUE(connected_);
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  // False if the peer no longer takes bytes.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  // The received bytes up to and including `pattern`; fewer if the connection ends before.
  std::string receive_through(std::string_view pattern) {
    std::size_t found = received_.find(pattern);
    while (found == std::string::npos && receive_more()) found = received_.find(pattern);
    return take(found == std::string::npos ? received_.size() : found + pattern.size());
  }
  std::string receive_exactly(std::size_t count) {
    while (received_.size() < count && receive_more()) {
    }
    return take(count);
  }
  // Everything up to the end of the connection.
  std::string receive_all() {
    while (receive_more()) {
    }
    return take(received_.size());
  }
  End end() const { return end_; }

  // An answer with a Content-Length, or without a body.
  RawResponse receive_response(Method method = Method::get) {
    RawResponse response;
    response.head = receive_through("\r\n\r\n");
    response.status = parse_integer<int>(std::string_view(response.head).substr(9, 3)).value_or(0);
    auto length = parse_integer<std::size_t>(response.header("Content-Length"));
    if (length && method != Method::head) response.body = receive_exactly(*length);
    return response;
  }
  RawResponse ask(std::string_view request) {
    send(request);
    return receive_response();
  }
  // One chunk of a chunked body, without its framing.
  std::string receive_chunk() {
    std::string line = receive_through("\r\n");
    std::size_t size = std::stoul(line, nullptr, 16);
    std::string data = receive_exactly(size);
    receive_exactly(2);
    return data;
  }

 private:
  bool receive_more() {
    char buffer[65536];
    auto count = ::recv(fd_, buffer, sizeof buffer, 0);
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
      return true;
    }
    end_ = count == 0 ? End::closed : errno == ECONNRESET ? End::reset : End::timed_out;
    return false;
  }
  std::string take(std::size_t count) {
    std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  int fd_;
  bool connected_ = false;
  std::string received_;
  End end_ = End::open;
};

// The source of a TestFeed, shared with the test. Touched on the server's home only, except
// `interrupted`.
struct FeedSource {
  explicit FeedSource(Executor home) : bell(std::move(home)) {}

  void push(std::string frames) {
    queue.push_back(std::move(frames));
    bell.notify();
  }
  void finish(EventFeed::State how) {
    end = how;
    bell.notify();
  }

  std::deque<std::string> queue;
  EventFeed::State end = EventFeed::State::more;
  Wakeup bell;
  bool cut = false;
  std::function<void()> reset;  // of the connection that a feed is sent on
  std::promise<void> interrupted;
};

class TestFeed final : public EventFeed {
 public:
  explicit TestFeed(std::shared_ptr<FeedSource> source) : source_(std::move(source)) {}

  Task<Chunk> read(SteadyTime deadline) override {
    for (;;) {
      if (source_->cut || source_->end == State::broken) co_return Chunk{State::broken, {}};
      if (!source_->queue.empty() || source_->end == State::ended) co_return take();
      Wakeup::Woken woken = co_await source_->bell.wait_until(deadline);
      if (woken == Wakeup::Woken::timed_out) co_return Chunk{State::idle, {}};
    }
  }
  void interrupt() override {
    if (std::exchange(source_->cut, true)) return;
    source_->interrupted.set_value();
    source_->bell.notify();
  }
  void on_cut(std::function<void()> reset) override { source_->reset = std::move(reset); }

 private:
  Chunk take() {
    Chunk chunk{source_->end, {}};
    for (const std::string& frames : source_->queue) chunk.frames += frames;
    source_->queue.clear();
    return chunk;
  }

  std::shared_ptr<FeedSource> source_;
};

}  // namespace errand::net::test
