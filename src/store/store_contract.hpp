#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "store/store.hpp"
#include "support/manual_clock.hpp"

namespace errand {

// Structs of the Store compare member by member in tests.
inline bool operator==(const RunRow& a, const RunRow& b) {
  auto tie = [](const RunRow& row) {
    return std::tie(row.id, row.workspace, row.status, row.name, row.model_id, row.metadata,
                    row.created_at, row.updated_at, row.last_seq, row.ends_by, row.segments,
                    row.epoch, row.format, row.session);
  };
  return tie(a) == tie(b);
}
inline bool operator==(const Mailbox& a, const Mailbox& b) {
  auto tie = [](const Mailbox& box) {
    return std::tie(box.run, box.slot, box.kind, box.name, box.request, box.offer_again,
                    box.opened_at, box.deadline, box.filled, box.body, box.claim_id,
                    box.claimed_until);
  };
  return tie(a) == tie(b);
}
inline bool operator==(const Segment& a, const Segment& b) {
  auto tie = [](const Segment& segment) {
    return std::tie(segment.last_seq, segment.n, segment.events_count, segment.at, segment.journal,
                    segment.events);
  };
  return tie(a) == tie(b);
}
inline bool operator==(const ApiKeyRow& a, const ApiKeyRow& b) {
  auto tie = [](const ApiKeyRow& key) {
    return std::tie(key.id, key.workspace, key.name, key.hash, key.prefix, key.created_at,
                    key.revoked_at);
  };
  return tie(a) == tie(b);
}

namespace store_contract {

// When every test begins.
constexpr std::int64_t kStart = 1'700'000'000'000;

// One store and its data. Each implementation brings its own.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Store& store() = 0;
  virtual ManualClock& clock() = 0;
  // Ends the store as a process ends; then only reopen() may be called.
  virtual void close() = 0;
  // Starts another one on the same data.
  virtual void reopen() = 0;
};
using MakeSubject = std::unique_ptr<Subject> (*)();

template <class T>
Task<void> keep_result(Task<T> call, std::optional<T>* result) {
  *result = co_await std::move(call);
}

inline void fail_test(const char* task, const std::string& what) {
  ADD_FAILURE() << task << ": " << what;
}

// Starts all of them before any can finish. The loop runs until nothing is left to do, because a
// store's threads let go of it only after they have told their results.
template <class T>
std::vector<T> wait_for_all(std::vector<Task<T>> calls) {
  asio::io_context io;
  std::vector<std::optional<T>> results(calls.size());
  TaskGroup tasks(io.get_executor(), fail_test);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    tasks.spawn("call", keep_result(std::move(calls[i]), &results[i]));
  }
  io.run();
  std::vector<T> out;
  for (auto& result : results) out.push_back(std::move(*result));
  return out;
}

template <class T>
T wait_for(Task<T> call) {
  std::vector<Task<T>> calls;
  calls.push_back(std::move(call));
  return std::move(wait_for_all(std::move(calls)).front());
}

// All journal text of a run, in order.
inline std::string read_journal(Store& store, RunKey run) {
  std::string journal;
  for (const SegmentPtr& segment : wait_for(store.read_journal(run, -1, SIZE_MAX)).value()) {
    journal += segment->journal;
  }
  return journal;
}

inline RunId run_id(int number) {
  return *RunId::parse(cat("run_", 1000 + number));
}
inline WorkspaceSlug workspace(std::string_view name = "default") {
  return *WorkspaceSlug::parse(name);
}
inline RunKey run_key(int number, std::string_view in = "default") {
  return {.workspace = workspace(in), .run = run_id(number)};
}

inline NewRun new_run(int number) {
  return {
      .row = {.id = run_id(number),
              .workspace = workspace(),
              .status = RunStatus::queued,
              .name = "a run",
              .model_id = "demo",
              .metadata = "{}",
              .created_at = from_millis(5000 + number),
              .updated_at = from_millis(5000 + number),
              .ends_by = StoreTime(milliseconds(80'000'000 + number))},
      .first = {.at = from_millis(5000 + number), .journal = "{\"created\":1}\n", .events = {}}};
}

inline NewRun new_run_in(std::string_view in, int number) {
  NewRun run = new_run(number);
  run.row.workspace = workspace(in);
  return run;
}

// What a program has made that knows more than this one.
inline NewRun newer_run(int number) {
  NewRun run = new_run(number);
  run.row.format = kRunFormat + 1;
  return run;
}

inline NewRun keyed_run(int number, std::string key, std::string fingerprint) {
  NewRun run = new_run(number);
  run.idempotency = {.key = std::move(key), .fingerprint = std::move(fingerprint)};
  return run;
}

// Events `first_seq` to `first_seq + count - 1`, as segment `n`.
inline Segment events_segment(std::int32_t n, EventSeq first_seq, std::int32_t count) {
  Segment segment{.last_seq = first_seq + count - 1,
                  .n = n,
                  .events_count = count,
                  .at = from_millis(9000 + n),
                  .journal = cat("{\"n\":", n, "}\n"),
                  .events = {}};
  for (EventSeq seq = first_seq; seq <= segment.last_seq; ++seq) {
    append(segment.events, "{\"seq\":", seq, "}\n");
  }
  return segment;
}

inline Commit commit_of(int run, std::int64_t epoch, Segment segment) {
  return {.key = run_key(run),
          .epoch = epoch,
          .expected_seq = segment.first_seq() - 1,
          .segment = std::make_shared<const Segment>(std::move(segment)),
          .status = RunStatus::running};
}

inline Commit last_commit(int run, std::int64_t epoch, Segment segment) {
  Commit last = commit_of(run, epoch, std::move(segment));
  last.status = RunStatus::succeeded;
  return last;
}

inline bool is_appended(const Result<Appended>& result) {
  return result && !result->refused;
}

// For so long a call may wait, in store time from the beginning.
constexpr milliseconds kCallTime{60'000};

inline Mailbox open_mailbox(int run, std::string slot) {
  return {.run = run_id(run),
          .slot = std::move(slot),
          .kind = MailKind::tool_result,
          .name = "lookup",
          .request = "{\"q\":1}",
          .offer_again = true,
          .opened_at = from_millis(9000),
          .deadline = StoreTime(kCallTime)};
}

inline Mailbox filled(Mailbox box, std::string body) {
  box.filled = true;
  box.body = std::move(body);
  return box;
}

inline Mail answer(int run, std::string slot, std::string body) {
  return {.to = run_key(run),
          .slot = std::move(slot),
          .kind = MailKind::tool_result,
          .body = std::move(body)};
}

inline Mail claimed_answer(int run, std::string slot, std::string claim_id) {
  Mail mail = answer(run, std::move(slot), "by claim");
  mail.claim_id = std::move(claim_id);
  return mail;
}

inline CallClaim call_claim(std::string slot, std::string claim_id, milliseconds ttl) {
  return {.workspace = workspace(),
          .slot = std::move(slot),
          .claim_id = std::move(claim_id),
          .ttl = ttl};
}

inline CallClaim call_extension(std::string slot, std::string claim_id, milliseconds ttl) {
  CallClaim claim = call_claim(std::move(slot), std::move(claim_id), ttl);
  claim.kind = CallClaim::Kind::extend;
  return claim;
}

inline Mail request(int run, MailKind kind, std::string slot) {
  return {.to = run_key(run), .slot = std::move(slot), .kind = kind, .body = "{}"};
}

inline Mail cancel_request(int run) {
  return request(run, MailKind::cancel, "cancel");
}

// Everything that has ended by now.
inline Prune everything_ended(const Store& store, std::size_t segments_max) {
  return {.ended_before = store.now() + milliseconds(1), .segments_max = segments_max};
}

}  // namespace store_contract

// What every Store promises. An implementation includes the parts (store_contract_*.hpp) in its
// test and instantiates this with a function that makes a fresh subject.
class StoreContract : public testing::TestWithParam<store_contract::MakeSubject> {
 protected:
  Store& store() { return subject_->store(); }
  ManualClock& clock() { return subject_->clock(); }
  void close() { subject_->close(); }
  void reopen() { subject_->reopen(); }

  // Creates run `number` and gives the epoch that owns it.
  std::int64_t create(int number) {
    auto outcome = store_contract::wait_for(store().create(store_contract::new_run(number)));
    return outcome.value().epoch;
  }
  bool append(Commit commit) {
    return store_contract::is_appended(store_contract::wait_for(store().append(std::move(commit))));
  }
  // Why the commit is refused; nothing if it is appended.
  std::optional<CommitRefusal> refusal(Commit commit) {
    return store_contract::wait_for(store().append(std::move(commit))).value().refused;
  }
  MailOutcome mail(Mail mail) {
    return store_contract::wait_for(store().mail(std::move(mail))).value();
  }
  std::vector<ClaimedRun> claim(std::size_t limit, milliseconds grace = {}) {
    return claim_page({.limit = limit, .grace = grace}).runs;
  }
  ClaimedRuns claim_page(ClaimRuns params) {
    return store_contract::wait_for(store().claim(std::move(params))).value();
  }
  CallClaimOutcome claim_call(CallClaim claim) {
    return store_contract::wait_for(store().claim_call(std::move(claim))).value();
  }
  // Slots of the calls that the filter finds.
  std::vector<std::string> pending(CallFilter filter) {
    filter.workspace = store_contract::workspace();
    std::vector<std::string> slots;
    auto found = store_contract::wait_for(store().pending_calls(std::move(filter))).value();
    for (const Mailbox& box : found) slots.push_back(box.slot);
    return slots;
  }
  bool exists(int number) {
    return store_contract::wait_for(store().find(store_contract::run_key(number))).has_value();
  }
  RunRow find(int number) {
    return store_contract::wait_for(store().find(store_contract::run_key(number))).value();
  }
  std::vector<Mailbox> mailboxes(int number) {
    return store_contract::wait_for(store().mailboxes(store_contract::run_key(number))).value();
  }
  std::vector<Segment> events(int number, EventSeq after, std::size_t bytes_max) {
    auto read = store().read_events(store_contract::run_key(number), after, bytes_max);
    auto segments = store_contract::wait_for(std::move(read)).value();
    std::vector<Segment> out;
    for (const SegmentPtr& segment : segments) out.push_back(*segment);
    return out;
  }
  std::vector<Segment> log(int number, EventSeq after, std::size_t bytes_max) {
    auto read = store().read_log(store_contract::run_key(number), after, bytes_max);
    auto segments = store_contract::wait_for(std::move(read)).value();
    std::vector<Segment> out;
    for (const SegmentPtr& segment : segments) out.push_back(*segment);
    return out;
  }
  std::vector<Segment> journals(int number, EventSeq after, std::size_t bytes_max) {
    auto read = store().read_journal(store_contract::run_key(number), after, bytes_max);
    auto segments = store_contract::wait_for(std::move(read)).value();
    std::vector<Segment> out;
    for (const SegmentPtr& segment : segments) out.push_back(*segment);
    return out;
  }
  std::string journal(int number) {
    return store_contract::read_journal(store(), store_contract::run_key(number));
  }

  std::unique_ptr<store_contract::Subject> subject_ = GetParam()();
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

}  // namespace errand
