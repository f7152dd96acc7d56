#include "sdk/bridge/handler_services.hpp"

#include <unistd.h>

#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::sdk {
namespace {

void log_to_stderr(v1::LogLevel level, std::string_view message) {
  if (level < v1::LogLevel::warning) return;
  std::string_view word = level == v1::LogLevel::error ? "error: " : "warning: ";
  [[maybe_unused]] auto written = write_fully(STDERR_FILENO, cat(word, message, "\n"));
}

}  // namespace

HandlerServices services_of(const v1::HandlerOptions& options) {
  HandlerServices services{.secrets = options.secrets, .log = options.log};
  if (!services.log) services.log = log_to_stderr;
  return services;
}

Teller teller_of(const v1::HandlerOptions& options) {
  return [log = services_of(options).log](std::string_view sentence) {
    log(v1::LogLevel::warning, sentence);
  };
}

}  // namespace errand::sdk
