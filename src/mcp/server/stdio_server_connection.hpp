#pragma once

#include <functional>
#include <memory>

#include "async/task_group.hpp"
#include "mcp/server/server_features.hpp"
#include "process/line_streams.hpp"
#include "rpc/connection.hpp"

namespace errand::mcp {

// A client that talks to this program over two descriptors, such as its standard input and output.
// One message a line.
class StdioServerConnection final : public rpc::Connection {
 public:
  // Fails as LineStreams::open does.
  static Result<std::unique_ptr<StdioServerConnection>> open(const Executor& home, int input,
                                                             int output);

  Result<void> send(rpc::Outgoing message) override;
  Task<Result<std::optional<rpc::Received>>> receive() override;
  Task<void> flush() override { return streams_->flush(); }
  void close() override { streams_->close(); }
  Task<void> join() override { co_return; }

 private:
  explicit StdioServerConnection(std::unique_ptr<process::LineStreams> streams)
      : streams_(std::move(streams)) {}

  std::unique_ptr<process::LineStreams> streams_;
};

// Serves one client over the descriptors until its input ends. Requests that are unanswered then
// have kFinishTime left. unavailable: the descriptors cannot be used.
constexpr milliseconds kFinishTime = seconds(1);
Task<Result<void>> serve_stdio(ServerFeatures* features, int input, int output,
                               TaskGroup::OnBug on_bug);
// The same for a server that is written as a handler. `on_peer` gets the peer of the client, and a
// null pointer before that is gone.
using OnPeer = std::function<void(rpc::Peer*)>;
Task<Result<void>> serve_stdio(
    rpc::Handler* handler, int input, int output, TaskGroup::OnBug on_bug,
    OnPeer on_peer = [](rpc::Peer*) {});

}  // namespace errand::mcp
