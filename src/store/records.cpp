#include "store/records.hpp"

namespace errand {

std::string_view to_string(CommitRefusal refusal) {
  switch (refusal) {
    case CommitRefusal::stale_epoch: return "the run is gone, or another process owns it";
    case CommitRefusal::not_at_end: return "the run's log ends elsewhere, or the run has ended";
    case CommitRefusal::mail_waiting: return "a cancel request waits in the run's mailbox";
    case CommitRefusal::newer_format: return "a newer version of Errand wrote the run";
  }
  return "refused";
}

}  // namespace errand
