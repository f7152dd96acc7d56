#include "engine/history/check_sessions.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "engine/history/check_log.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kPageBytes = 1024 * 1024;

// Compares entry by entry: those that follow from the log are in their places, and no others of
// this run come after them.
Task<Result<std::optional<Finding>>> check_told(Store* store, RunRow row, ToldHistory told) {
  if (told.bodies.empty()) co_return std::optional<Finding>();
  auto finding = [&row](std::int64_t n, std::string_view what) {
    return Finding{
        .run = row.id,
        .rule = "session_history",
        .sentence = cat("entry ", n, " of the history of session ", row.session.view(), " ", what)};
  };
  const SessionKey key{.workspace = row.workspace, .session = row.session};
  std::int64_t n = told.after;
  for (const std::string& body : told.bodies) {
    auto entry = co_await store->read_history(key, n, n + 1, 1);
    if (!entry && entry.error().code() != ErrorCode::not_found) co_return entry.error();
    ++n;
    if (!entry || entry->empty()) co_return finding(n, "is missing");
    if (entry->front().run != row.id) co_return finding(n, "is another run's");
    if (!is_same_json(entry->front().body, body)) co_return finding(n, "is not what the log says");
  }
  ERRAND_CO_TRY(auto next, co_await store->read_history(key, n, n + 1, 1));
  if (!next.empty() && next.front().run == row.id) co_return finding(n + 1, "has no place in it");
  co_return std::optional<Finding>();
}

}  // namespace

Task<Result<std::optional<Finding>>> SessionsCheck::add(Store* store, RunRow row,
                                                        const agent::State* state,
                                                        ToldHistory told) {
  if (row.session.empty() || !state) co_return std::optional<Finding>();
  Seen& seen = seen_[{.workspace = row.workspace, .session = row.session}];
  if (told.bodies.empty()) seen.silent.insert(row.id);
  if (!state->terminal() && state->has_begun()) seen.begun.push_back(row.id);
  if (!state->terminal() && !state->has_begun()) seen.waiting.insert(row.id);
  auto finding = co_await check_told(store, std::move(row), std::move(told));
  co_return finding;
}

Task<Result<std::vector<Finding>>> SessionsCheck::findings(Store* store) {
  std::vector<Finding> findings;
  for (const auto& [session, seen] : seen_) {
    ERRAND_CO_TRY(auto entry, co_await check_history(store, session, &seen));
    if (entry) findings.push_back(std::move(*entry));
    ERRAND_CO_TRY(auto turn, co_await check_turn(store, session, &seen));
    if (turn) findings.push_back(std::move(*turn));
  }
  co_return findings;
}

// A run that has added no entries has none in the history.
Task<Result<std::optional<Finding>>> SessionsCheck::check_history(Store* store, SessionKey session,
                                                                  const Seen* seen) {
  if (seen->silent.empty()) co_return std::optional<Finding>();
  auto row = co_await store->find_session(session);
  if (!row && row.error().code() == ErrorCode::not_found) co_return std::optional<Finding>();
  if (!row) co_return std::move(row).error();
  for (std::int64_t after = 0; after < row->entries;) {
    ERRAND_CO_TRY(auto page,
                  co_await store->read_history(session, after, row->entries, kPageBytes));
    if (page.empty()) break;
    for (const SessionEntry& entry : page) {
      if (!seen->silent.contains(entry.run)) continue;
      co_return Finding{
          .run = entry.run,
          .rule = "session_history",
          .sentence = cat("entry ", entry.n, " of the history of session ", session.session.view(),
                          " is of a run whose log adds none")};
    }
    after = page.back().n;
  }
  co_return std::optional<Finding>();
}

// A run that has begun has the turn, and no run waits while the turn is free.
Task<Result<std::optional<Finding>>> SessionsCheck::check_turn(Store* store, SessionKey session,
                                                               const Seen* seen) {
  if (seen->begun.empty() && seen->waiting.empty()) co_return std::optional<Finding>();
  auto row = co_await store->find_session(session);
  if (!row && row.error().code() != ErrorCode::not_found) co_return std::move(row).error();
  auto finding = [&session](const RunId& run, std::string_view what) {
    return Finding{.run = run,
                   .rule = "session_turn",
                   .sentence = cat(what, " the turn of session ", session.session.view())};
  };
  const std::optional<RunId> current = row ? row->current : std::nullopt;
  for (const RunId& run : seen->begun) {
    if (current != run) co_return finding(run, "the run has begun without");
  }
  if (!seen->begun.empty()) co_return std::optional<Finding>();
  if (!current) co_return finding(*seen->waiting.begin(), "the run waits, and nobody has");
  if (seen->waiting.contains(*current)) co_return std::optional<Finding>();
  co_return finding(*current, "a run that is not going on has");
}

}  // namespace errand::engine
