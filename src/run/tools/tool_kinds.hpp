#pragma once

#include <array>
#include <string_view>

namespace errand {

// The kinds of tool refs that a caller may send. A journal has further kinds of its own.
inline constexpr auto kToolKinds = std::to_array<std::string_view>(
    {"local", "a2a_local", "mcp_local", "mantyx", "mantyx_plugin", "mcp", "a2a", "agent"});

}  // namespace errand
