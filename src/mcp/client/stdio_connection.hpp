#pragma once

#include <memory>
#include <string>
#include <vector>

#include "process/line_process.hpp"
#include "rpc/connection.hpp"

namespace errand::mcp {

// A server that is a program of its own, spoken to over its standard input and output.
struct StdioServer {
  std::vector<std::string> command;      // see ProcessOptions
  std::vector<std::string> environment;  // "NAME=value", and nothing besides
  std::string directory = {};
  milliseconds patience = seconds(2);  // from the end of its input to SIGTERM
  milliseconds grace = seconds(2);     // from SIGTERM to SIGKILL
};

// One message a line. When the program ends, receive() says how, with the end of its log.
class StdioConnection final : public rpc::Connection {
 public:
  // Fails as Subprocess::spawn does.
  static Result<std::unique_ptr<StdioConnection>> open(const Executor& home,
                                                       const StdioServer& server);

  Result<void> send(rpc::Outgoing message) override;
  Task<Result<std::optional<rpc::Received>>> receive() override;
  void close() override;
  Task<void> join() override;

 private:
  StdioConnection(std::unique_ptr<process::LineProcess> process, std::string name)
      : process_(std::move(process)), name_(std::move(name)) {}
  Error how_it_ended() const;

  std::unique_ptr<process::LineProcess> process_;
  const std::string name_;
};

}  // namespace errand::mcp
