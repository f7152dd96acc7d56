#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace errand::cli {

struct ServeOptions {
  std::string listen = "127.0.0.1:7300";
  std::string data = "./.errand";
  std::string config;  // empty: the built-in configuration
  std::string store;   // "sqlite:PATH"; empty: errand.db in the data directory
  std::string public_url;
  bool behind_proxy = false;
  milliseconds drain{5000};
  LogFormat log_format = LogFormat::text;
  // Absent: info, or warning where a person reads the log on the terminal of the command.
  std::optional<LogLevel> log_level = {};
};

// Runs the server until SIGTERM or SIGINT; returns the exit code.
int serve(const ServeOptions& options);

}  // namespace errand::cli
