#pragma once

// Fixtures for the tests of the client: a server that speaks bytes as its script says.

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "net/client/http_client.hpp"
#include "net/server/test_support.hpp"

namespace errand::net::test {

// What a peer reads and writes through; blocking.
class PeerBytes {
 public:
  virtual ~PeerBytes() = default;
  virtual bool send(std::string_view bytes) = 0;
  virtual bool receive(char& c) = 0;  // false at the end, however it comes
};

class SocketBytes final : public PeerBytes {
 public:
  explicit SocketBytes(int fd) : fd_(fd) {}

  bool send(std::string_view bytes) override {
    while (!bytes.empty()) {
      auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool receive(char& c) override { return ::recv(fd_, &c, 1, 0) == 1; }

 private:
  int fd_;
};

// The server's side of one connection. Nothing waits longer than 20 seconds.
class PeerConnection final {
 public:
  explicit PeerConnection(int fd) : fd_(fd), bytes_(std::make_unique<SocketBytes>(fd)) {
    timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  }
  ~PeerConnection() {
    bytes_.reset();
    ::close(fd_);
  }
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;

  int fd() const { return fd_; }
  // From now on, everything goes through `bytes`.
  void speak_through(std::unique_ptr<PeerBytes> bytes) { bytes_ = std::move(bytes); }

  // What the client sends, up to and including `pattern`; less if it closes before.
  std::string receive_through(std::string_view pattern) {
    std::string received;
    char c = 0;
    while (!received.ends_with(pattern) && bytes_->receive(c)) received.push_back(c);
    return received;
  }
  std::string receive_head() { return receive_through("\r\n\r\n"); }
  bool send(std::string_view bytes) { return bytes_->send(bytes); }
  // Returns once the client has closed its side.
  void wait_for_close() {
    char c = 0;
    while (bytes_->receive(c)) {
    }
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

 private:
  int fd_;
  std::unique_ptr<PeerBytes> bytes_;
};

// Takes as many connections as there are scripts and runs each on a thread of its own.
class Peer final {
 public:
  using Script = std::function<void(PeerConnection&)>;

  explicit Peer(Script script) : Peer(std::vector<Script>{std::move(script)}) {}
  explicit Peer(std::vector<Script> scripts)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, scripts = std::move(scripts)] { accept_all(scripts); });
  }
  ~Peer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view target = "/") const {
    return cat("http://127.0.0.1:", port_, target);
  }
  int accepted() const { return accepted_; }
  // Returns once this many scripts have ended and their connections are closed.
  void wait_for_ended(int count) const {
    for (int ended = ended_; ended < count; ended = ended_) ended_.wait(ended);
  }

 private:
  void accept_all(const std::vector<Script>& scripts) {
    std::vector<std::thread> threads;
    for (const Script& script : scripts) {
      int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) break;
      ++accepted_;
      threads.emplace_back([this, fd, &script] {
        {
          PeerConnection connection(fd);
          script(connection);
        }
        ++ended_;
        ended_.notify_all();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_ = 0;
  std::atomic<int> ended_ = 0;
  std::thread thread_;
};

// Reads one request without a body and answers.
inline Peer::Script answers(std::string bytes) {
  return [bytes = std::move(bytes)](PeerConnection& peer) {
    peer.receive_head();
    peer.send(bytes);
  };
}

// Answers `count` requests on one connection, then waits until the client lets go of it.
inline Peer::Script answers_often(std::string bytes, int count) {
  return [bytes = std::move(bytes), count](PeerConnection& peer) {
    for (int i = 0; i < count; ++i) {
      if (peer.receive_head().empty()) return;
      peer.send(bytes);
    }
    peer.wait_for_close();
  };
}

inline const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class ClientTest : public testing::Test {
 protected:
  explicit ClientTest(ClientOptions options = {})
      : client_(std::make_unique<HttpClient>(std::move(options))) {}
  ~ClientTest() override {
    loop_.call([this] { client_.reset(); });
  }

  Result<ClientResponse> send(ClientRequest request) {
    return loop_.run(client_->send(std::move(request)));
  }
  Result<ClientResponse> get(std::string url, ClientTimeouts timeouts = {}) {
    return send({.url = std::move(url), .timeouts = timeouts});
  }
  Result<std::unique_ptr<ClientStream>> open(std::string url, ClientTimeouts timeouts = {}) {
    return loop_.run(client_->open({.url = std::move(url), .timeouts = timeouts}));
  }
  void drop(Result<std::unique_ptr<ClientStream>>& stream) {
    loop_.call([&] { stream.value().reset(); });
  }
  // "status body", or the code of the error.
  static std::string shown(const Result<ClientResponse>& response) {
    if (!response) return std::string(to_string(response.error().code()));
    return cat(response->status, " ", response->body);
  }
  // "code reason: message".
  static std::string shown_error(const Error& error) {
    return cat(to_string(error.code()), " ", error.reason(), ": ", error.message());
  }

  Loop loop_;
  std::unique_ptr<HttpClient> client_;
};

}  // namespace errand::net::test
