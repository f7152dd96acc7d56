#pragma once

#include <string>

#include "cli/show/event_printer.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

struct DoctorOptions {
  std::string config;  // empty: none is named
  Form form = Form::text;
  sdk::ServerFlags server;
};

// Looks at everything that can be wrong with data, server and models, and says what to do. Changes
// nothing. The exit code is 1 if something is wrong.
int doctor(const DoctorOptions& options);

}  // namespace errand::cli
