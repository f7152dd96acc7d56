#include "store/sqlite/changes/mail_changes.hpp"

#include <algorithm>

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kOpen =
    "INSERT INTO mail (run, slot, workspace, kind, name, offer_again, opened_at, deadline, filled, "
    "claim_id, claimed_until, request, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO UPDATE SET deadline = excluded.deadline";
constexpr const char* kClose = "DELETE FROM mail WHERE run = ? AND slot = ?";
constexpr const char* kClear = "DELETE FROM mail WHERE run = ?";
constexpr const char* kFill =
    "UPDATE mail SET filled = 1, body = ? WHERE run = ? AND slot = ? AND kind = ? AND filled = 0 "
    "AND (? OR claim_id = '' OR claim_id = ? OR claimed_until <= ?)";
constexpr const char* kFindUnfilled =
    "SELECT 1 FROM mail WHERE run = ? AND slot = ? AND kind = ? AND filled = 0";
constexpr const char* kFindKinds = "SELECT slot, kind FROM mail WHERE run = ?";
constexpr const char* kInsertRequest =
    "INSERT OR IGNORE INTO mail (run, slot, workspace, kind, name, offer_again, opened_at, "
    "deadline, filled, claim_id, claimed_until, request, body) "
    "VALUES (?, ?, ?, ?, '', 0, ?, 0, 1, '', 0, x'', ?)";
constexpr const char* kFindOpenCall =
    "SELECT * FROM mail INDEXED BY pending "
    "WHERE workspace = ? AND slot = ? AND kind = 0 AND filled = 0 ORDER BY run LIMIT 1";
constexpr const char* kSetClaim =
    "UPDATE mail SET claim_id = ?, claimed_until = ? WHERE run = ? AND slot = ?";
constexpr const char* kProlong =
    "UPDATE mail SET deadline = ?1 WHERE run = ?2 AND filled = 0 AND deadline < ?1";

bool is_claimed(const Mailbox& box, StoreTime now) {
  return !box.claim_id.empty() && box.claimed_until > now;
}

}  // namespace

MailChanges::MailChanges(Database& database, const Timekeeper& time)
    : database_(database),
      time_(time),
      open_(database, kOpen),
      close_(database, kClose),
      clear_(database, kClear),
      fill_(database, kFill),
      find_unfilled_(database, kFindUnfilled),
      find_kinds_(database, kFindKinds),
      insert_request_(database, kInsertRequest),
      find_open_call_(database, kFindOpenCall),
      set_claim_(database, kSetClaim),
      prolong_(database, kProlong),
      mail_of_run_(database, kMailOfRun) {}

Result<void> MailChanges::open(const RunKey& run, const std::vector<Mailbox>& boxes) {
  for (const Mailbox& box : boxes) {
    ERRAND_CHECK(open_.run(run.run, box.slot, run.workspace, box.kind, box.name, box.offer_again,
                           box.opened_at, box.deadline, box.filled, box.claim_id, box.claimed_until,
                           Blob{box.request}, Blob{box.body}));
  }
  return {};
}

Result<void> MailChanges::update(const Commit& commit) {
  for (const std::string& slot : commit.effects.close) {
    ERRAND_CHECK(close_.run(commit.key.run, slot));
  }
  return open(commit.key, commit.effects.open);
}

Result<MailChanges::AtEnd> MailChanges::at_end(const Commit& commit) {
  const std::vector<std::string>& read = commit.effects.close;
  AtEnd found = AtEnd::nothing;
  Rows rows = find_kinds_.query(commit.key.run);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return found;
    found = AtEnd::something;
    // A cancel that this commit does not read was accepted before the end, and must not be lost.
    const bool is_cancel = static_cast<MailKind>(rows.integer(1)) == MailKind::cancel;
    if (is_cancel && std::find(read.begin(), read.end(), rows.view(0)) == read.end()) {
      return AtEnd::unread_cancel;
    }
  }
}

Result<void> MailChanges::clear(const RunId& run) {
  return clear_.run(run);
}

Result<MailOutcome> MailChanges::fill(const Mail& mail) {
  if (is_answer(mail.kind)) return answer(mail);
  ERRAND_CHECK(insert_request_.run(mail.to.run, mail.slot, mail.to.workspace, mail.kind,
                                   time_.wall_now(), Blob{mail.body}));
  return database_.changes() == 0 ? MailOutcome::unknown_slot : MailOutcome::accepted;
}

Result<MailOutcome> MailChanges::answer(const Mail& mail) {
  ERRAND_CHECK(fill_.run(Blob{mail.body}, mail.to.run, mail.slot, mail.kind,
                         mail.owner_epoch.has_value(), mail.claim_id, time_.now()));
  if (database_.changes() > 0) return MailOutcome::accepted;
  // Nothing was filled: the mailbox is claimed by another client, or it is closed.
  Rows rows = find_unfilled_.query(mail.to.run, mail.slot, mail.kind);
  ERRAND_TRY(bool is_open, rows.next());
  return is_open ? MailOutcome::claimed : MailOutcome::unknown_slot;
}

Result<CallClaimOutcome> MailChanges::claim(const CallClaim& claim) {
  using Kind = CallClaimOutcome::Kind;
  ERRAND_TRY(auto box, find_open_call(claim));
  if (!box) return CallClaimOutcome{.kind = Kind::unknown_slot};
  const StoreTime now = time_.now();
  const bool is_free = claim.kind == CallClaim::Kind::claim && !is_claimed(*box, now);
  const bool may_take = is_free || box->claim_id == claim.claim_id;
  if (!may_take) return CallClaimOutcome{.kind = Kind::taken};
  box->claim_id = claim.claim_id;
  box->claimed_until = std::min(now + claim.ttl, box->deadline);
  ERRAND_CHECK(set_claim_.run(box->claim_id, box->claimed_until, box->run, box->slot));
  return CallClaimOutcome{.kind = Kind::claimed, .box = std::move(*box)};
}

Result<std::optional<Mailbox>> MailChanges::find_open_call(const CallClaim& claim) {
  Rows rows = find_open_call_.query(claim.workspace, claim.slot);
  ERRAND_TRY(bool found, rows.next());
  return found ? std::optional(read_mailbox(rows)) : std::nullopt;
}

Result<std::vector<Mailbox>> MailChanges::prolong(const RunKey& run, StoreTime deadline_min) {
  ERRAND_TRY(auto boxes, read_mailboxes(mail_of_run_.query(run.run, run.workspace)));
  bool is_late = false;
  for (Mailbox& box : boxes) {
    if (box.filled || box.deadline >= deadline_min) continue;
    box.deadline = deadline_min;
    is_late = true;
  }
  if (is_late) ERRAND_CHECK(prolong_.run(deadline_min, run.run));
  return boxes;
}

}  // namespace errand::sqlite
