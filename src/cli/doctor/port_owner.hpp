#pragma once

#include <cstdint>
#include <string>

namespace errand::cli {

// The process that listens on a port of this machine: "process 123 (python3)". Empty if none does,
// or if it is another user's, of which the system does not tell.
std::string port_owner(std::uint16_t port);

}  // namespace errand::cli
