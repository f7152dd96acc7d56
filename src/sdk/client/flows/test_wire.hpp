#pragma once

#include <algorithm>
#include <array>
#include <atomic>
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

// What a TestWire does to the answers of a server.
struct WireFaults {
  // The first connection on which the server says this is cut right behind it. Empty: none is.
  std::string cut_at = {};
  // Wherever the server says `replaced`, the client hears `by`, which is as long. Empty: nowhere.
  std::string replaced = {};
  std::string by = {};
};

// Stands between a client and a server on this machine, on a thread of its own: keeps all that the
// client sends, and may damage what the server says.
class TestWire final {
 public:
  // `server` is "http://127.0.0.1:PORT".
  explicit TestWire(std::string_view server, WireFaults faults = {})
      : port_(std::stoi(std::string(server.substr(server.rfind(':') + 1)))),
        faults_(std::move(faults)),
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

  // How often the client has heard something else than what the server said.
  int replacements() const { return replacements_; }

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
      Socket client = co_await acceptor_.async_accept(use_task);
      Socket server(io_);
      co_await server.async_connect(
          {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port_)}, use_task);
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
    std::string held;
    for (;;) {
      auto [error, size] =
          co_await from.async_read_some(asio::buffer(buffer), asio::as_tuple(use_task));
      if (error) break;
      std::string piece(buffer.data(), size);
      if (is_sent) keep(piece);
      if (!is_sent) piece = replaced_in(held + piece, held);
      if (!is_sent && !faults_.cut_at.empty()) said += piece;
      auto cut = faults_.cut_at.empty() ? std::string::npos : said.find(faults_.cut_at);
      co_await asio::async_write(to, asio::buffer(piece), asio::as_tuple(use_task));
      if (cut == std::string::npos) continue;
      faults_.cut_at.clear();
      break;
    }
    co_await asio::async_write(to, asio::buffer(held), asio::as_tuple(use_task));
    boost::system::error_code ignored;
    pair->client.close(ignored);
    pair->server.close(ignored);
  }

  // What of the text may go on. `held` is the rest, which the next piece may make a match.
  std::string replaced_in(std::string text, std::string& held) {
    held.clear();
    const std::string& from = faults_.replaced;
    if (from.empty()) return text;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), faults_.by);
      at += from.size();
      ++replacements_;
    }
    std::size_t rest = std::min(text.size(), from.size() - 1);
    while (!text.ends_with(from.substr(0, rest))) --rest;
    held = text.substr(text.size() - rest);
    text.resize(text.size() - rest);
    return text;
  }

  void keep(std::string_view piece) {
    std::lock_guard lock(mutex_);
    sent_ += piece;
  }

  const int port_;
  WireFaults faults_;
  std::atomic<int> replacements_ = 0;
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
