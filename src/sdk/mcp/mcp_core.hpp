#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "net/server/http_server.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/mcp/mcp_offer.hpp"
#include "sdk/mcp/toolkit_features.hpp"

namespace errand::sdk {

// Serves a server of the program to clients in other processes: a thread with a loop, and the
// threads of handlers. Each core has one transport.
class McpCore final {
 public:
  explicit McpCore(std::shared_ptr<McpOffer> offer);
  ~McpCore();  // close()
  McpCore(const McpCore&) = delete;
  McpCore& operator=(const McpCore&) = delete;

  // Serves one client until its input ends. unavailable: the descriptors cannot be used.
  Result<void> serve_stdio(int input, int output);
  // Serves clients from now on. See v1::mcp::Server::serve_http.
  Result<net::Endpoint> listen(const v1::mcp::HttpOptions& options);

  // Ends every session, and waits for handlers that run. From any thread but theirs.
  void close();

 private:
  class Http;
  TaskGroup::OnBug on_bug() const;

  Task<Result<bool>> serve_streams(int input, int output);
  Result<net::Endpoint> listen_at_home(const v1::mcp::HttpOptions& options);
  void tell(const McpOffer::Change& change);
  Task<void> shut_down();

  const std::shared_ptr<McpOffer> offer_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  const Home home_;
  AsioTimers timers_;
  Handlers handlers_;
  const std::shared_ptr<ToolkitFeatures> features_;
  mcp::ServerSession* session_ = nullptr;  // of the client at the streams, with its peer
  rpc::Peer* peer_ = nullptr;
  std::unique_ptr<Http> http_;
  TaskGroup tasks_;
  TaskGroup closing_;

  std::mutex mutex_;
  bool is_closed_ = false;
  std::shared_ptr<void> listening_;  // to changes of the offer
  std::thread thread_;
};

}  // namespace errand::sdk
