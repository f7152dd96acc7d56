#include "engine/residency/live_run.hpp"

#include <algorithm>
#include <utility>

#include "engine/residency/subscription.hpp"

namespace errand::engine {

bool has_cancel(std::span<const Mailbox> mail) {
  return std::any_of(mail.begin(), mail.end(),
                     [](const Mailbox& box) { return box.kind == MailKind::cancel; });
}

LiveRun::LiveRun(const RunRow& row, Keeper& keeper)
    : id_(row.id),
      workspace_(row.workspace),
      committed_seq_(row.last_seq),
      status_(row.status),
      keeper_(keeper) {}

void LiveRun::attach(std::unique_ptr<agent::AgentRun> agent) {
  agent_ = std::move(agent);
  agent_->start();
  for (Mailbox& mail : std::exchange(early_mail_, {})) agent_->deliver(std::move(mail));
}

std::unique_ptr<agent::AgentRun> LiveRun::detach() {
  // A run at rest keeps nothing; late readers of an ended run still get its last segments.
  if (!is_terminal()) forget_recent();
  return std::move(agent_);
}

void LiveRun::add_reader(Subscription* reader) {
  readers_.push_back(reader);
  tell_read_after_end();
}

void LiveRun::remove_reader(Subscription* reader) {
  std::erase(readers_, reader);
  tell_read_after_end();
  if (readers_.empty() && !agent_) keeper_.on_unused(*this);
}

void LiveRun::tell_read_after_end() {
  const bool is_read = is_terminal() && has_readers();
  if (std::exchange(is_read_after_end_, is_read) == is_read) return;
  keeper_.on_read_after_end(*this, is_read);
}

void LiveRun::deliver(Mailbox mail) {
  if (agent_) {
    agent_->deliver(std::move(mail));
  } else {
    early_mail_.push_back(std::move(mail));
  }
}

bool LiveRun::has_early_cancel() const {
  return has_cancel(early_mail_);
}

void LiveRun::catch_up(const RunRow& row) {
  committed_seq_ = row.last_seq;
  status_ = row.status;
  tell_read_after_end();
  forget_recent();
  for (Subscription* reader : readers_) reader->wake();
}

SegmentPtr LiveRun::lent_after(EventSeq after) const {
  for (const std::weak_ptr<const Segment>& lent : lent_) {
    SegmentPtr segment = lent.lock();
    if (segment && segment->first_seq() <= after + 1 && segment->last_seq > after) return segment;
  }
  return nullptr;
}

void LiveRun::share(std::vector<SegmentPtr>& read) {
  std::erase_if(lent_, [](const auto& lent) { return lent.expired(); });
  for (SegmentPtr& segment : read) {
    if (segment->events.size() < kLentBytesMin) continue;
    SegmentPtr known = lent_after(segment->last_seq - 1);
    const bool is_same =
        known && known->first_seq() == segment->first_seq() && known->last_seq == segment->last_seq;
    if (is_same) {
      segment = std::move(known);
    } else {
      lent_.push_back(segment);
    }
  }
}

void LiveRun::on_commit(const agent::Committed& commit) {
  committed_seq_ = commit.segment->last_seq;
  status_ = commit.status;
  tell_read_after_end();
  if (!commit.opened.empty()) keeper_.on_calls_offered(*this, commit.opened);
  if (!commit.closed.empty()) keeper_.on_calls_closed(*this, commit.closed);
  if (commit.started || commit.is_turn_unknown) keeper_.on_turn_given(*this, commit.started);
  // Readers see events only.
  if (commit.segment->events_count == 0) return;
  keep(commit.segment);
  for (Subscription* reader : readers_) reader->push(commit.segment);
}

void LiveRun::on_retry(const ModelRetry& retry) {
  retry_ = retry;
  for (Subscription* reader : readers_) reader->push_retry(retry);
}

void LiveRun::keep(const SegmentPtr& segment) {
  recent_.push_back(segment);
  recent_bytes_ += segment->events.size() + segment->journal.size();
  while (recent_bytes_ > kRecentBytesMax) {
    recent_bytes_ -= recent_.front()->events.size() + recent_.front()->journal.size();
    recent_.erase(recent_.begin());
  }
}

void LiveRun::forget_recent() {
  recent_ = {};
  recent_bytes_ = 0;
}

}  // namespace errand::engine
