// Writes whose outcome the store could not tell. They may be durable, so nobody gets an answer
// before the store can be read again; then whatever was written is delivered to its run. Each of
// these writes is a task of the engine, because its caller may be cut off meanwhile.
#include <utility>

#include "async/backoff.hpp"
#include "async/read_aside.hpp"
#include "engine/engine.hpp"
#include "engine/shielded.hpp"

namespace errand::engine {
namespace {

Error still_unknown() {
  return {ErrorCode::outcome_unknown,
          "the server is stopping, and the store has not said whether the write was made"};
}

// Another attempt would give the same error.
bool is_final(const Error& error) {
  return error.code() != ErrorCode::unavailable && error.code() != ErrorCode::outcome_unknown;
}

}  // namespace

// The store takes a copy: the run gets the mail itself.
Task<Result<MailOutcome>> Engine::post(Mail mail) {
  ++counters_.durable_waits;
  BlockingPool* pool = mail.body.size() > kBytesInABreath ? deps_.pool : nullptr;
  auto copy = [mail = std::move(mail)]() mutable {
    Mail sent = mail;
    return Result<std::pair<Mail, Mail>>(std::pair(std::move(mail), std::move(sent)));
  };
  ERRAND_CO_TRY(auto both, co_await surely_aside(pool, std::move(copy)));
  mail = std::move(both.first);
  auto outcome = co_await deps_.store.mail(std::move(both.second));
  if (!outcome && outcome.error().code() == ErrorCode::outcome_unknown) {
    auto found = co_await shielded(&tasks_, "engine.find_mail", find_mail(std::move(mail)));
    co_return found;
  }
  const RunKey to = mail.to;
  if (outcome && *outcome == MailOutcome::accepted) {
    residency_.deliver(to, filled_by(std::move(mail)));
  }
  co_return outcome;
}

Task<Result<MailOutcome>> Engine::find_mail(Mail mail) {
  const RunKey to = mail.to;
  for (Backoff backoff({}, to.run.view()); !pauses_.ended();) {
    auto boxes = co_await deps_.store.mailboxes(to);
    auto outcome = boxes ? outcome_in(*boxes, mail) : std::nullopt;
    if (boxes && !outcome) {
      auto sent = co_await deps_.store.mail(mail);
      if (!sent && is_final(sent.error())) co_return std::move(sent).error();
      if (sent) outcome = *sent;
    }
    if (outcome == MailOutcome::accepted) residency_.deliver(to, filled_by(std::move(mail)));
    if (outcome) co_return *outcome;
    co_await pauses_.pause(backoff.next());
  }
  co_return still_unknown();
}

Task<Result<Engine::Begun>> Engine::create_surely(NewRun run) {
  const RunKey key = run.row.key();
  std::optional<SessionTurn> turn = run.session;
  auto outcome = co_await deps_.store.create(std::move(run));
  if (outcome) co_return Begun{.outcome = std::move(*outcome)};
  if (outcome.error().code() != ErrorCode::outcome_unknown) co_return std::move(outcome).error();
  auto found =
      co_await shielded(&tasks_, "engine.find_created", find_created(key, std::move(turn)));
  co_return found;
}

Task<Result<Engine::Begun>> Engine::find_created(RunKey key, std::optional<SessionTurn> turn) {
  for (Backoff backoff({}, key.run.view()); !pauses_.ended();) {
    auto row = co_await deps_.store.find(key);
    if (!row && row.error().code() == ErrorCode::not_found) {
      co_return Error(ErrorCode::unavailable, "the store failed, and the run was not created");
    }
    if (!row && is_final(row.error())) co_return std::move(row).error();
    if (row) {
      CreateOutcome found{.kind = Creation::created, .run = key.run, .epoch = row->epoch};
      if (turn) {
        found.interrupted = co_await find_turn(*row, *turn);
      } else {
        residency_.begin_unread(*row);
      }
      co_return Begun{.outcome = std::move(found), .is_driven = true};
    }
    co_await pauses_.pause(backoff.next());
  }
  co_return still_unknown();
}

// Drives the run if it has the turn. Returns the run that it interrupts, if any.
Task<std::optional<RunId>> Engine::find_turn(RunRow row, SessionTurn turn) {
  // The run may have got its turn since, or may even have ended, so it is driven from what the
  // store says now.
  auto session = co_await deps_.store.find_session({row.workspace, turn.session});
  // If the session cannot be read, the run asks for its turn when it starts.
  const bool has_turn = !session || session->current == row.id;
  if (has_turn && !is_terminal(row.status)) residency_.take_turn(row.key());
  const bool interrupts = session && !has_turn && turn.when_busy == WhenBusy::interrupt;
  co_return interrupts ? session->current : std::nullopt;
}

// Ends the session again. It is no longer known which runs the first attempt cancelled, but it
// cancelled every unfinished run, and a run that gets a cancel twice folds it once.
Task<Result<EndedSession>> Engine::end_surely(SessionKey session, std::string reason) {
  for (Backoff backoff({}, session.session.view()); !pauses_.ended();) {
    auto ended = co_await deps_.store.end_session(session, reason);
    if (!ended && is_final(ended.error())) co_return std::move(ended).error();
    bool is_known = ended.has_value();
    if (ended && !ended->was_active) {
      auto unfinished = co_await unfinished_runs(session);
      is_known = unfinished.has_value();
      if (unfinished) *ended = {.was_active = true, .cancelled = std::move(*unfinished)};
    }
    if (is_known) {
      deliver_end(session.workspace, *ended, reason);
      co_return ended;
    }
    co_await pauses_.pause(backoff.next());
  }
  co_return still_unknown();
}

Task<Result<std::vector<RunId>>> Engine::unfinished_runs(SessionKey session) {
  std::vector<RunId> unfinished;
  for (RunStatus status : {RunStatus::running, RunStatus::queued}) {
    RunFilter filter{.workspace = session.workspace, .status = status};
    filter.session = session.session;
    for (bool is_last = false; !is_last;) {
      ERRAND_CO_TRY(auto rows, co_await deps_.store.list(filter));
      for (const RunRow& row : rows) unfinished.push_back(row.id);
      is_last = rows.size() < filter.limit;
      if (!is_last) filter.before = rows.back().id;
    }
  }
  co_return unfinished;
}

}  // namespace errand::engine
