#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "agent/file_bytes.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "engine/call_errors.hpp"
#include "engine/cancel_mail.hpp"
#include "engine/id_bounds.hpp"
#include "engine/residency/paged_journal.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"
#include "run/log/journal.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kLongReadsMax = 2;
constexpr std::size_t kCallLooksMax = 1;
constexpr std::size_t kLongListsMax = 2;
static_assert(kLongReadsMax + kCallLooksMax + kLongListsMax == Engine::kScansMax);

Error no_such_run(const RunId& run) {
  return {ErrorCode::not_found, cat("there is no run \"", run.view(), "\"")};
}

// A journal entry without its secrets.
Result<std::string> shown_entry(std::string_view line) {
  ERRAND_TRY(auto entry, json::parse(line, {.duplicate_keys = json::DuplicateKeys::last_wins}));
  json::redact_secrets(entry);
  return json::write(entry);
}

}  // namespace

Error newer_run(const RunId& run) {
  return Error(ErrorCode::unavailable,
               cat("the run \"", run.view(), "\" was written by a newer version of Errand"))
      .reason("newer_format")
      .hint("Use that version, or a newer one.");
}

// Runs share the surroundings, and residency_ drives the runs, so residency_ comes after everything
// that they use.
Engine::Engine(Deps deps, Limits limits)
    : deps_(deps),
      limits_(limits),
      lease_(deps.timers),
      turns_(limits.turns),
      readers_(limits.reader_bytes_max),
      surroundings_{.home = deps.home,
                    .store = deps.store,
                    .clock = deps.clock,
                    .timers = deps.timers,
                    .ids = deps.ids,
                    .tools = deps.tools,
                    .schemas = {.pool = deps_.pool, .cache = schemas_},
                    .log = deps.log,
                    .lease = lease_,
                    .counters = counters_,
                    .turns = turns_,
                    .typed_events = deps.typed_events,
                    .secrets = deps.records ? &deps.records->secrets : nullptr,
                    .spans = deps.spans,
                    .children = this,
                    .histories = &histories_,
                    .ledger = deps.ledger},
      pauses_(deps.home.executor(), deps.timers),
      residency_({.home = deps.home,
                  .store = deps.store,
                  .timers = deps.timers,
                  .catalog = deps.catalog,
                  .log = deps.log,
                  .surroundings = surroundings_,
                  .pauses = pauses_,
                  .on_calls_offered =
                      [this](const WorkspaceSlug& workspace, std::span<const Mailbox> calls) {
                        tell_watchers_of(workspace, calls);
                      },
                  .on_calls_closed =
                      [this](const RunId& run, std::span<const std::string> slots) {
                        if (slots.empty()) forget_claims(run);
                        for (const std::string& slot : slots) forget_claim(run, slot);
                      },
                  .slots = limits.slots}),
      long_reads_(deps.home.executor(), kLongReadsMax),
      call_looks_(deps.home.executor(), kCallLooksMax),
      long_lists_(deps.home.executor(), kLongListsMax),
      tried_tools_(deps.home.executor(), deps.log, deps.records ? &deps.records->secrets : nullptr),
      tasks_(deps.home.executor(), [this](const char* task, const std::string& what) {
        deps_.log.error("a task of the engine failed; this is a bug",
                        {{"task", task}, {"what", what}});
      }) {}

Engine::~Engine() = default;

Task<Result<void>> Engine::answer(Principal who, RunId run, CallAnswer answer) {
  std::vector<RunBlob> blobs = agent::take_bytes(answer.answer.files);
  const std::string slot = answer.tool_use_id;
  Mail mail{.to = {.workspace = who.workspace, .run = run},
            .slot = std::move(answer.tool_use_id),
            .kind = MailKind::tool_result,
            .claim_id = std::move(answer.claim_id),
            .effects = {.blobs = std::move(blobs)}};
  BlockingPool* pool = answer.answer.text.size() > kBytesInABreath ? deps_.pool : nullptr;
  auto write = [answer = std::move(answer.answer)] {
    return Result<std::string>(to_mail_body(answer));
  };
  ERRAND_CO_TRY(mail.body, co_await surely_aside(pool, std::move(write)));
  ERRAND_CO_TRY(auto outcome, co_await post(std::move(mail)));
  switch (outcome) {
    case MailOutcome::unknown_run: co_return no_such_run(run);
    case MailOutcome::run_ended:
      co_return Error(ErrorCode::conflict, "the run has ended").reason("run_terminal");
    case MailOutcome::newer_format: co_return newer_run(run);
    case MailOutcome::unknown_slot:
    case MailOutcome::stale_epoch: co_return call_not_pending(slot);
    case MailOutcome::claimed: co_return call_claimed(slot);
    case MailOutcome::accepted: break;
  }
  co_return Result<void>();
}

Task<Result<RunStatus>> Engine::cancel(Principal who, RunId run) {
  const RunKey key{.workspace = who.workspace, .run = run};
  Mail mail = cancel_mail(key, "user");
  ERRAND_CO_TRY(auto outcome, co_await post(mail));
  if (outcome == MailOutcome::unknown_run) co_return no_such_run(run);
  if (outcome == MailOutcome::newer_format) co_return newer_run(run);
  if (outcome == MailOutcome::run_ended) {
    ERRAND_CO_TRY(auto row, co_await deps_.store.find(key));
    co_return row.status;
  }
  // The cancel is in the mailbox already, but the process that put it there may have died before it
  // delivered it. A run that gets a cancel twice folds it once.
  if (outcome == MailOutcome::unknown_slot) residency_.deliver(key, filled_by(std::move(mail)));
  co_return RunStatus::cancelled;
}

Task<Result<std::unique_ptr<Subscription>>> Engine::subscribe(Principal who, RunId run,
                                                              EventSeq after) {
  const RunKey key{.workspace = who.workspace, .run = run};
  std::shared_ptr<LiveRun> live = residency_.find(key);
  if (!live) {
    ERRAND_CO_TRY(auto row, co_await deps_.store.find(key));
    live = residency_.find_or_watch(row);
  }
  if (after > live->committed_seq()) {
    // A run that is being taken over does not know the end of its log yet, so the store is asked.
    // If the reader is ahead of the log even so, it gets the last event of an ended run again, and
    // continues from the end of the log of any other run.
    ERRAND_CO_TRY(auto row, co_await deps_.store.find(key));
    const EventSeq end = std::max(row.last_seq, live->committed_seq());
    if (after > end) after = is_terminal(row.status) ? std::max(EventSeq{0}, end - 1) : end;
  }
  co_return std::make_unique<Subscription>(deps_.store, readers_, std::move(live), after,
                                           deps_.home.executor());
}

Task<Result<EventsPage>> Engine::events(Principal who, RunId run, EventSeq after,
                                        std::size_t bytes_max) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  EventsPage page{.after = after, .last_seq = row.last_seq};
  const std::size_t at_once = std::min(bytes_max, kBytesInABreath);
  ERRAND_CO_TRY(page.segments, co_await deps_.store.read_events(row.key(), after, at_once));
  const bool is_all = page.segments.empty() || page.segments.back()->last_seq >= row.last_seq;
  if (is_all || at_once == bytes_max) co_return page;
  // A reader of a short log need not wait behind readers of long pages. Many may wait, and what
  // they have read so far is read again.
  page.segments.clear();
  Gate::Pass pass = co_await long_reads_.enter();
  ERRAND_CO_TRY(page.segments, co_await deps_.store.read_events(row.key(), after, bytes_max));
  page.place = std::move(pass);
  co_return page;
}

Task<Result<JournalPage>> Engine::journal(Principal who, RunId run, std::size_t after,
                                          std::size_t limit, std::size_t bytes_max) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  Gate::Pass pass = co_await long_reads_.enter();
  PagedJournal reader(deps_.store, row.key(), after, journal_places_.find(run, after));
  JournalPage page;
  Breath breath(kBytesInABreath);
  for (std::size_t bytes = 0;;) {
    ERRAND_CO_TRY(auto line, co_await reader.next());
    if (!line) break;
    page.has_more = page.entries.size() >= limit || bytes >= bytes_max;
    if (page.has_more) break;
    BlockingPool* pool = line->text.size() > kBytesInABreath ? deps_.pool : nullptr;
    auto show = [line = *line] { return shown_entry(line.text); };
    ERRAND_CO_TRY(auto entry, co_await run_aside(pool, std::move(show)));
    bytes += entry.size();
    page.entries.push_back(std::move(entry));
    if (breath.is_due(page.entries.back().size())) co_await let_others_run();
  }
  if (page.has_more) journal_places_.keep(run, after + page.entries.size(), reader.place());
  page.place = std::move(pass);
  co_return page;
}

Task<Result<RunView>> Engine::get(Principal who, RunId run) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  Gate::Pass pass = co_await long_reads_.enter();
  ERRAND_CO_TRY(auto state, co_await fold_run(&deps_.store, deps_.pool, row.key(), Fold::brief));
  ERRAND_CO_TRY(auto mail, co_await deps_.store.mailboxes(row.key()));
  RunView view{.row = std::move(row), .state = std::move(state)};
  for (Mailbox& box : mail) {
    if (!box.filled) view.pending.push_back(shown(std::move(box)));
  }
  co_return view;
}

Task<Result<std::vector<RunRow>>> Engine::list(RunFilter filter) {
  set_id_bounds(filter.created, kRunPrefix);
  std::optional<Gate::Pass> pass;
  if (!filter.metadata.empty()) {
    Gate::Pass entered = co_await long_lists_.enter();
    pass.emplace(std::move(entered));
  }
  co_return co_await deps_.store.list(std::move(filter));
}

void Engine::drain() {
  draining_ = true;
  tell_watchers();
}

// Runs are stopped before the store is told that the stop was on purpose.
Task<void> Engine::stop() {
  draining_ = true;
  pauses_.end();
  tell_watchers();
  co_await residency_.stop();
  // No child run is lost: the store knows which ones were created.
  for (const auto& [run, child] : new_children_) tasks_.cancel_one(child->task);
  co_await tried_tools_.stop();
  co_await tasks_.join();
  while (!claims_.empty()) forget_claims(RunId(claims_.begin()->first));
  auto left = co_await deps_.store.leave();
  if (!left) {
    deps_.log.warning("cannot note that the server stopped on purpose",
                      {{"error", left.error().describe()}});
  }
}

}  // namespace errand::engine
