#pragma once

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "async/task_group.hpp"
#include "base/text.hpp"

namespace errand::sdk {

// Stands between a client and a server on this machine, on a thread of its own: keeps all that the
// client sends, and cuts a connection once.
class TestWire final {
 public:
  // `server` is "http://127.0.0.1:PORT". The first connection on which the server says `cut_at` is
  // cut right behind it. Empty: none is.
  explicit TestWire(std::string_view server, std::string cut_at = {})
      : port_(std::stoi(std::string(server.substr(server.rfind(':') + 1)))),
        cut_at_(std::move(cut_at)),
        acceptor_(io_, {asio::ip::address_v4::loopback(), 0}),
        url_(cat("http://127.0.0.1:", acceptor_.local_endpoint().port())) {
    tasks_.spawn("accept", accept());
    thread_ = std::thread([this] { io_.run(); });
  }
  ~TestWire() {
    asio::post(io_, [this] { tasks_.cancel(CancelReason::shutdown); });
    thread_.join();
  }
  TestWire(const TestWire&) = delete;
  TestWire& operator=(const TestWire&) = delete;

  const std::string& url() const { return url_; }
  // All that clients have sent so far.
  std::string sent() const {
    std::lock_guard lock(mutex_);
    return sent_;
  }
  // How often clients have sent this.
  int count(std::string_view text) const {
    std::string all = sent();
    int found = 0;
    for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++found;
    return found;
  }

  // The body of the first request whose head begins so; empty if there is none.
  std::string body_of(std::string_view head) const {
    constexpr std::string_view kLength = "content-length: ";
    std::string all = sent();
    auto from = all.find(head);
    auto end = from == std::string::npos ? from : all.find("\r\n\r\n", from);
    if (end == std::string::npos) return {};
    std::string fields = to_lower(all.substr(from, end - from));
    auto length = fields.find(kLength);
    if (length == std::string::npos) return {};
    return all.substr(end + 4, std::stoul(fields.substr(length + kLength.size())));
  }

 private:
  using Socket = asio::ip::tcp::socket;
  struct Pair {
    Socket client;
    Socket server;
  };
  enum class Way { to_server, to_client };

  Task<void> accept() {
    for (;;) {
      Socket client = co_await acceptor_.async_accept(asio::use_awaitable);
      Socket server(io_);
      co_await server.async_connect(
          {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port_)},
          asio::use_awaitable);
      auto pair = std::make_shared<Pair>(Pair{std::move(client), std::move(server)});
      tasks_.spawn("requests", pump(pair, Way::to_server));
      tasks_.spawn("answers", pump(pair, Way::to_client));
    }
  }

  Task<void> pump(std::shared_ptr<Pair> pair, Way way) {
    bool is_sent = way == Way::to_server;
    Socket& from = is_sent ? pair->client : pair->server;
    Socket& to = is_sent ? pair->server : pair->client;
    std::array<char, 4096> buffer{};
    std::string said;
    for (;;) {
      auto [error, size] =
          co_await from.async_read_some(asio::buffer(buffer), asio::as_tuple(asio::use_awaitable));
      if (error) break;
      std::string_view piece(buffer.data(), size);
      if (is_sent) keep(piece);
      if (!is_sent && !cut_at_.empty()) said += piece;
      auto cut = cut_at_.empty() ? std::string::npos : said.find(cut_at_);
      co_await asio::async_write(to, asio::buffer(piece), asio::as_tuple(asio::use_awaitable));
      if (cut == std::string::npos) continue;
      cut_at_.clear();
      break;
    }
    boost::system::error_code ignored;
    pair->client.close(ignored);
    pair->server.close(ignored);
  }

  void keep(std::string_view piece) {
    std::lock_guard lock(mutex_);
    sent_ += piece;
  }

  const int port_;
  std::string cut_at_;
  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_;
  const std::string url_;
  mutable std::mutex mutex_;
  std::string sent_;
  // A task that is cut off throws.
  TaskGroup tasks_{io_.get_executor(), [](const char*, const std::string&) {}};
  std::thread thread_;
};

}  // namespace errand::sdk
