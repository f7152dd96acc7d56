#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// The kinds of values that shells ask for while a user types: "AGENT", "CALL", "MODEL", "ROOM",
// "RUN", "SESSION", "TOOL". Flags and arguments of these kinds are completed.
std::span<const std::string_view> value_kinds();

// Prints the values of a kind, one on each line, the newest first, at most kKnownValuesMax: those
// of the server that the flags mean, or of their data directory. Returns the exit code.
inline constexpr int kKnownValuesMax = 100;
int print_known_values(const sdk::ServerFlags& server, std::string_view kind);

}  // namespace errand::cli
