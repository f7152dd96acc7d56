#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <errand/error.hpp>
#include <errand/json.hpp>

namespace errand::sdk {
class RoomCore;
class McpCall;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

namespace mcp {
class Caller;
}  // namespace mcp

enum class LogLevel : std::uint8_t { debug, info, warning, error };

// How far a call is. `total` is 0 where it is not known.
struct ToolProgress {
  std::string message = {};
  double done = 0;
  double total = 0;

  bool operator==(const ToolProgress&) const = default;
};

// Which call this is. Empty texts where there is no run, as in a test.
struct ToolCallInfo {
  std::string run_id = {};
  std::string call_id = {};  // the same on every attempt: an idempotency key
  std::string tool = {};
  std::string caller = {};        // who calls, in a room: its name, or its id if that is not known
  std::string on_behalf_of = {};  // whom an agent acts for: an id, as the caller claims
  std::string room = {};
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::string caller_id = {};      // of this connection of the caller
  JsonObject caller_context = {};  // what the caller tells of itself
  // In a room, where the caller takes messages; else empty.
  std::string caller_role = {};
  JsonObject caller_attributes = {};
  // The call's place in a trace, as the header of W3C; empty if there is none. A handler passes it
  // on to the services that it calls.
  std::string traceparent = {};
};

// What a runtime does for a call. Runtimes and test kits implement it. Every function may be called
// from any thread while the call runs.
class ToolCallHost {
 public:
  virtual ~ToolCallHost();
  virtual bool cancelled() const = 0;
  virtual void progress(const ToolProgress& progress) = 0;
  // Nothing if there is no secret of this name.
  virtual std::optional<std::string> secret(std::string_view name) = 0;
  virtual void log(LogLevel level, std::string_view message) = 0;
  // The room that the call came from; null if it came from none. See Room::of.
  virtual std::shared_ptr<sdk::RoomCore> room() const;
  // The MCP client that the call came from; null if it came from none. See mcp::Caller::of.
  virtual std::shared_ptr<sdk::McpCall> mcp() const;
  // See ToolContext::wait_elsewhere. May be null.
  virtual std::shared_ptr<void> wait_elsewhere();
  // The time of day; see RuntimeOptions::now.
  virtual std::chrono::system_clock::time_point now() const;
  // See ToolContext::on_cancel. Nothing is ever called unless a host overrides this.
  virtual void on_cancel(std::function<void()> call);
};

// What a handler knows of its call. Valid while the handler runs; safe to use from any thread.
class ToolContext final {
 public:
  // Of no run: never cancelled, without secrets; progress and log go nowhere.
  ToolContext();
  ToolContext(ToolCallInfo info, std::shared_ptr<ToolCallHost> host);
  ToolContext(const ToolContext&) = delete;
  ToolContext& operator=(const ToolContext&) = delete;
  ~ToolContext();

  const ToolCallInfo& info() const { return info_; }
  const std::string& run_id() const { return info_.run_id; }
  // The same on every attempt of the call. Pass it on as an idempotency key.
  const std::string& call_id() const { return info_.call_id; }

  std::optional<std::chrono::steady_clock::time_point> deadline() const { return info_.deadline; }

  // The time of day, which a test may have stopped (RuntimeOptions::now).
  std::chrono::system_clock::time_point now() const;

  // Who calls, where the tool is hosted in a room; see ToolCallInfo.
  const std::string& caller() const { return info_.caller; }
  const std::string& on_behalf_of() const { return info_.on_behalf_of; }
  const JsonObject& caller_context() const { return info_.caller_context; }

  // Whether the result is no longer wanted. A long handler asks now and then and returns early.
  bool cancelled() const;
  // Throws an Error (cancelled) if the result is no longer wanted.
  void throw_if_cancelled() const;

  // Calls this once, from any thread, when the result is no longer wanted; at once if that is so
  // already. It must not block.
  void on_cancel(std::function<void()> call) const;

  void progress(std::string message, double done = 0, double total = 0);

  // Held by the handler's thread while it waits for work elsewhere, such as a std::future: the
  // thread does not count against HandlerOptions::threads_max meanwhile.
  [[nodiscard]] std::shared_ptr<void> wait_elsewhere() const;

  // Throws an Error (not_found) if there is no secret of this name.
  std::string secret(std::string_view name) const;
  std::optional<std::string> find_secret(std::string_view name) const;

  void log(std::string_view message) { log(LogLevel::info, message); }
  void log(LogLevel level, std::string_view message);

 private:
  friend class Room;
  friend class mcp::Caller;
  ToolCallInfo info_;
  std::shared_ptr<ToolCallHost> host_;
};

}  // namespace errand::ERRAND_V1
