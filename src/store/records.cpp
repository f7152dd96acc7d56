#include "store/records.hpp"

#include <algorithm>

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

Mailbox filled_by(Mail mail) {
  return {.run = std::move(mail.to.run),
          .slot = std::move(mail.slot),
          .kind = mail.kind,
          .filled = true,
          .body = std::move(mail.body)};
}

std::optional<MailOutcome> outcome_in(const std::vector<Mailbox>& boxes, const Mail& mail) {
  auto box = std::find_if(boxes.begin(), boxes.end(),
                          [&mail](const Mailbox& one) { return one.slot == mail.slot; });
  if (box == boxes.end() || !box->filled) return {};
  const bool is_ours = box->kind == mail.kind && box->body == mail.body;
  return is_ours ? MailOutcome::accepted : MailOutcome::unknown_slot;
}

}  // namespace errand
