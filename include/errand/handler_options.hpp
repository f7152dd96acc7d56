#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <errand/tool_context.hpp>

namespace errand::ERRAND_V1 {

// What a program gives the handlers of its tools.
struct HandlerOptions {
  // Handlers that run at a time, each on a thread of its own; later calls wait.
  std::size_t threads_max = 64;
  // What ToolContext::secret finds. Called from any thread.
  std::function<std::optional<std::string>(std::string_view name)> secrets = {};
  // Where ToolContext::log goes: nothing writes warnings and errors to stderr.
  std::function<void(LogLevel level, std::string_view message)> log = {};
};

}  // namespace errand::ERRAND_V1
