#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace errand {

// queued -> running -> (waiting for a client call) -> running ... -> one of the last three.
enum class RunStatus : std::uint8_t { queued, running, waiting, succeeded, failed, cancelled };
constexpr std::size_t kRunStatuses = 6;

inline bool is_terminal(RunStatus status) {
  return status >= RunStatus::succeeded;
}

// The word on the wire. A run that waits for a client says "running", as the protocol knows no
// other.
std::string_view to_string(RunStatus status);
std::optional<RunStatus> parse_run_status(std::string_view word);

}  // namespace errand
