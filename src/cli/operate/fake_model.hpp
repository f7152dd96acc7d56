#pragma once

#include <string>

#include "base/log.hpp"

namespace errand::cli {

struct FakeModelOptions {
  std::string script;
  std::string listen = "127.0.0.1:0";
  std::string key;  // empty: any will do
  LogFormat log_format = LogFormat::text;
};

// Serves a fake of the model vendors until SIGTERM or SIGINT; returns the exit code.
int fake_model(const FakeModelOptions& options);

}  // namespace errand::cli
