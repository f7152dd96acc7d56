#include "run/status.hpp"

namespace errand {

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::queued: return "queued";
    case RunStatus::running:
    case RunStatus::waiting: return "running";
    case RunStatus::succeeded: return "succeeded";
    case RunStatus::failed: return "failed";
    case RunStatus::cancelled: return "cancelled";
  }
  return "failed";
}

std::optional<RunStatus> parse_run_status(std::string_view word) {
  for (auto status : {RunStatus::queued, RunStatus::running, RunStatus::succeeded,
                      RunStatus::failed, RunStatus::cancelled}) {
    if (to_string(status) == word) return status;
  }
  return {};
}

}  // namespace errand
