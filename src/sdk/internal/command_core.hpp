#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "sdk/client/runner_core.hpp"

namespace errand::sdk {

// The options of a command's own handlers: their log lines go to stderr.
v1::HandlerOptions command_handlers();

// The core of a client on the loop of a command. Failures beside its work are reported on stderr.
// `loop` outlives it.
std::shared_ptr<RunnerCore> make_command_core(asio::io_context& loop);

}  // namespace errand::sdk
