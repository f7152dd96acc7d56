#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "sdk/client/runner_core.hpp"

namespace errand::sdk {

// What a command's own handlers are given: what they log is told on stderr.
v1::HandlerOptions command_handlers();

// The core of a client on the loop of a command. What goes wrong beside its work is told on stderr.
// `loop` outlives it.
std::shared_ptr<RunnerCore> make_command_core(asio::io_context& loop);

}  // namespace errand::sdk
