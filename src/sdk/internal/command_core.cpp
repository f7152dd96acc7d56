#include "sdk/internal/command_core.hpp"

#include "sdk/internal/tell_stderr.hpp"

namespace errand::sdk {

v1::HandlerOptions command_handlers() {
  v1::HandlerOptions handlers;
  handlers.log = [](v1::LogLevel, std::string_view message) { tell_stderr(message); };
  return handlers;
}

std::shared_ptr<RunnerCore> make_command_core(asio::io_context& loop) {
  return std::make_shared<RunnerCore>(
      RunnerCore::Options{.handlers = command_handlers(), .loop = &loop});
}

}  // namespace errand::sdk
