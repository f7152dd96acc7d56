#include <errand/tool_context.hpp>

#include "base/text.hpp"

namespace errand::v1 {

ToolCallHost::~ToolCallHost() = default;

std::shared_ptr<sdk::RoomCore> ToolCallHost::room() const {
  return nullptr;
}
std::shared_ptr<sdk::McpCall> ToolCallHost::mcp() const {
  return nullptr;
}

std::shared_ptr<void> ToolCallHost::wait_elsewhere() {
  return nullptr;
}

std::chrono::system_clock::time_point ToolCallHost::now() const {
  return std::chrono::system_clock::now();
}

void ToolCallHost::on_cancel(std::function<void()> /*call*/) {}

ToolContext::ToolContext() = default;
ToolContext::ToolContext(ToolCallInfo info, std::shared_ptr<ToolCallHost> host)
    : info_(std::move(info)), host_(std::move(host)) {}
ToolContext::~ToolContext() = default;

bool ToolContext::cancelled() const {
  return host_ && host_->cancelled();
}

void ToolContext::throw_if_cancelled() const {
  if (cancelled()) throw Error(ErrorCode::cancelled, "the call was cancelled");
}

std::chrono::system_clock::time_point ToolContext::now() const {
  return host_ ? host_->now() : std::chrono::system_clock::now();
}

void ToolContext::on_cancel(std::function<void()> call) const {
  if (host_) host_->on_cancel(std::move(call));
}

void ToolContext::progress(std::string message, double done, double total) {
  if (host_) host_->progress({std::move(message), done, total});
}

std::shared_ptr<void> ToolContext::wait_elsewhere() const {
  return host_ ? host_->wait_elsewhere() : nullptr;
}

std::optional<std::string> ToolContext::find_secret(std::string_view name) const {
  return host_ ? host_->secret(name) : std::nullopt;
}

std::string ToolContext::secret(std::string_view name) const {
  if (auto found = find_secret(name)) return std::move(*found);
  throw Error(ErrorCode::not_found, cat("there is no secret named ", name));
}

void ToolContext::log(LogLevel level, std::string_view message) {
  if (host_) host_->log(level, message);
}

}  // namespace errand::v1
