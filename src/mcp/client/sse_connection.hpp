#pragma once

#include <optional>
#include <string>

#include "mcp/client/http_connection.hpp"

namespace errand::mcp {

// HTTP+SSE, the transport of 2024-11-05: one stream brings everything from the server, and messages
// to the server go by POST to an address that the stream names first.
class SseConnection final : public rpc::Connection {
 public:
  SseConnection(ClientDeps deps, HttpServer server);

  // Opens the stream and waits for the address. unsupported: the server has no such stream, or
  // names an address of another origin.
  Task<Result<void>> open(milliseconds time);

  Result<void> send(rpc::Outgoing message) override;
  Task<Result<std::optional<rpc::Received>>> receive() override;
  Task<void> flush() override;
  void close() override;
  Task<void> join() override;

 private:
  Task<void> read();
  Task<Result<void>> read_events();
  Task<void> post(rpc::Outgoing message);
  Result<void> take_endpoint(std::string_view reference);

  const ClientDeps deps_;
  const HttpServer server_;
  std::optional<std::string> endpoint_;
  std::size_t posts_ = 0;
  Wakeup* flushing_ = nullptr;
  Wakeup ready_;  // the address is there, or the stream is over
  Interrupt ending_;
  Inbox inbox_;
  std::optional<Error> failure_;
  TaskGroup tasks_;
};

}  // namespace errand::mcp
