#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>

#include "async/task.hpp"
#include "base/result.hpp"
#include "net/client/response_reader.hpp"

namespace errand::load {

// One request as it goes over the wire.
struct WireRequest {
  net::Method method = net::Method::get;
  std::string bytes;
};

// A connection that is kept alive, with one request at a time. It connects with its first request,
// and again if the server has closed it in between.
// unavailable: cannot connect, the connection broke, or what came is not HTTP.
class Connection final {
 public:
  Connection(Executor home, asio::ip::tcp::endpoint server);

  // Returns the status once the head of the answer is there. The answer before must have been read
  // to its end.
  Task<Result<int>> send(WireRequest request);
  // The next bytes of the body; empty at its clean end.
  Task<Result<std::string>> read();
  // What is left of the body.
  Task<Result<std::string>> read_all();

  // The next request gets a new connection.
  void close();

 private:
  Task<Result<void>> connect();
  Task<Result<void>> receive();

  asio::ip::tcp::socket socket_;
  asio::ip::tcp::endpoint server_;
  std::unique_ptr<char[]> memory_;
  std::optional<net::ResponseReader> reader_;
};

}  // namespace errand::load
