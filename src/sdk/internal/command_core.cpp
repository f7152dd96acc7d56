#include "sdk/internal/command_core.hpp"

#include <utility>

#include "sdk/internal/tell_stderr.hpp"

namespace errand::sdk {

std::shared_ptr<RunnerCore> make_command_core(asio::io_context& loop) {
  v1::HandlerOptions handlers;
  handlers.log = [](v1::LogLevel, std::string_view message) { tell_stderr(message); };
  return std::make_shared<RunnerCore>(
      RunnerCore::Options{.handlers = std::move(handlers), .loop = &loop});
}

}  // namespace errand::sdk
