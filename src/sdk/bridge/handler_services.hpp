#pragma once

#include <errand/handler_options.hpp>

#include "sdk/bridge/handlers.hpp"

namespace errand::sdk {

// What the options of a program give its handlers. Without a log of the program's own, warnings and
// errors go to stderr.
HandlerServices services_of(const v1::HandlerOptions& options);

}  // namespace errand::sdk
