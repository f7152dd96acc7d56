#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "async/wakeup.hpp"
#include "mcp/server/server_features.hpp"
#include "sdk/bridge/mcp_call.hpp"

namespace errand::sdk {

// A request of an MCP client whose handler runs on another thread. It lives until both the task on
// the home and the handler's thread have let go of it.
class ServedMcpCall final : public McpCall, public std::enable_shared_from_this<ServedMcpCall> {
 public:
  // Lines that wait for the home at a time; what comes on top is dropped.
  static constexpr int kLinesMax = 256;

  // `call` is there until leave(). `answers` is what the client has been asked before.
  ServedMcpCall(const Executor& home, mcp::ServedCall& call, json::Object answers);

  // From any thread.
  void log(v1::LogLevel level, std::string_view message) override;
  const mcp::ClientCapabilities& client() const override { return client_; }
  std::string next_key() override;
  json::Object ask(std::map<std::string, mcp::InputRequest> questions) override;

  // At home: asks the client what the handler wants to know, until it is cancelled.
  Task<void> serve();
  // The handler has ended, or its result is not wanted any more.
  void leave();
  // After leave(): what the client is to answer before the request can be carried out.
  const std::optional<mcp::InputRequired>& wanted() const { return wanted_; }
  const json::Object& answers() const { return answers_; }

 private:
  // What a handler waits for.
  struct Asked {
    std::map<std::string, mcp::InputRequest> questions;
    std::optional<Result<json::Object>> answers = {};
  };
  using AskedPtr = std::shared_ptr<Asked>;

  json::Object ask_now(std::map<std::string, mcp::InputRequest> questions);
  Task<Result<json::Object>> ask_in_turn(AskedPtr asked);

  const Executor home_;
  const mcp::Era era_;
  const mcp::ClientCapabilities client_;
  std::atomic<int> lines_ = 0;
  std::atomic<int> questions_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_left_ = false;
  json::Object answers_;
  std::optional<mcp::InputRequired> wanted_;

  // At home.
  mcp::ServedCall* call_;
  std::deque<AskedPtr> waiting_;
  std::unique_ptr<Wakeup> bell_;  // null when nothing waits
};

}  // namespace errand::sdk
