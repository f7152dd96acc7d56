#pragma once

#include <errand/handler_options.hpp>

#include "sdk/bridge/handlers.hpp"
#include "sdk/teller.hpp"

namespace errand::sdk {

// What the options of a program give its handlers. Without a log of the program's own, warnings and
// errors go to stderr.
HandlerServices services_of(const v1::HandlerOptions& options);

// What a client has to tell goes to the same log, as warnings.
Teller teller_of(const v1::HandlerOptions& options);

}  // namespace errand::sdk
