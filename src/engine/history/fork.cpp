// Forks: new runs that continue from a point of another run.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "agent/session_history.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "engine/engine.hpp"
#include "engine/kept_files.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kPastBytesAtOnce = 2U * 1024 * 1024;

// A turn of the original run, in its last attempt.
struct PastTurn {
  TurnEntry asked;
  std::vector<JournalEntry> entries;  // its calls, outcomes and end
  std::size_t calls = 0;
  std::size_t outcomes = 0;
  bool has_end = false;
  EventSeq finished_at = 0;  // 0 if the original run is itself a fork and took the turn over

  bool is_finished() const { return has_end && calls == outcomes; }
};

using SeqByCall = std::map<std::string, EventSeq>;
using SeqByTurn = std::map<int, EventSeq>;

// Collects what a fork takes over. Calls and outcomes may be large, so they are moved out of the
// entries.
class PastReader final {
 public:
  explicit PastReader(const std::vector<EventFacts>& events) {
    for (const EventFacts& event : events) {
      if (event.type == "assistant_message") messages_[event.turn] = event.seq;
      bool is_result = event.type == "tool_result" || event.type == "local_tool_result_in";
      if (is_result) results_[event.call] = event.seq;
    }
  }

  void take(JournalEntry& entry) {
    std::visit([this](auto& one) { take_entry(one); }, entry);
  }

  std::vector<PastTurn> turns() && { return std::move(turns_); }

 private:
  // The run's request, continuations and end are not taken over.
  template <class Entry>
  void take_entry(Entry&) {}

  void take_entry(TurnEntry& entry) {
    std::optional<std::string> prompt = entry.prompt;
    if (!turns_.empty() && turns_.back().asked.turn == entry.turn) {
      prompt = turns_.back().asked.prompt;
      turns_.pop_back();
    }
    turns_.push_back({.asked = {.turn = entry.turn, .retells = entry.retells}});
    turns_.back().asked.prompt = std::move(prompt);
  }

  void take_entry(CallEntry& entry) {
    ++turns_.back().calls;
    turns_.back().entries.emplace_back(std::move(entry));
  }

  void take_entry(OutcomeEntry& entry) {
    ++turns_.back().outcomes;
    finish_at(results_[entry.id.str()]);
    turns_.back().entries.emplace_back(std::move(entry));
  }

  void take_entry(TurnEndEntry& entry) {
    entry.usage = {};
    entry.fatal.reset();
    entry.answered_by.reset();
    turns_.back().has_end = true;
    turns_.back().entries.emplace_back(std::move(entry));
    finish_at(messages_[turns_.back().asked.turn]);
  }

  void finish_at(EventSeq seq) {
    turns_.back().finished_at = std::max(turns_.back().finished_at, seq);
  }

  SeqByTurn messages_;
  SeqByCall results_;
  std::vector<PastTurn> turns_;
};

// Everything that a run has shown and journaled.
struct Past {
  std::vector<EventFacts> events;
  std::vector<JournalEntry> entries;  // the first is `created`
};

Result<Past> add_segments(Past past, const std::vector<SegmentPtr>& segments) {
  for (const SegmentPtr& segment : segments) {
    ERRAND_CHECK(add_event_facts(past.events, *segment));
    for (std::string_view rest = segment->journal; !rest.empty();) {
      ERRAND_TRY(auto entry, parse_journal_line(take_line(rest), past.entries.size() + 1));
      past.entries.push_back(std::move(entry));
    }
  }
  return past;
}

std::size_t bytes_of(const std::vector<SegmentPtr>& segments) {
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : segments) {
    bytes += segment->events.size() + segment->journal.size();
  }
  return bytes;
}

// The log is read in parts, each of which is freed before the next one is read, so that only the
// turns of a long log are in memory. Long parts are read on the pool.
Task<Result<Past>> read_past(Store* store, BlockingPool* pool, RunKey run) {
  Past past;
  for (EventSeq after = -1;;) {
    ERRAND_CO_TRY(auto segments, co_await store->read_log(run, after, kPastBytesAtOnce));
    if (segments.empty()) break;
    // The store has merged segments since the last part was read, so the parts do not fit together.
    if (after >= 0 && segments.front()->first_seq() != after + 1) {
      past = {};
      after = -1;
      continue;
    }
    after = segments.back()->last_seq;
    ERRAND_CO_CHECK(co_await read_tools_back(store, run, &segments));
    BlockingPool* place = bytes_of(segments) > kBytesInABreath ? pool : nullptr;
    auto take = [past = std::move(past), segments = std::move(segments)]() mutable {
      return add_segments(std::move(past), segments);
    };
    ERRAND_CO_TRY(past, co_await run_aside(place, std::move(take)));
  }
  const bool is_begun =
      !past.entries.empty() && std::holds_alternative<CreatedEntry>(past.entries.front());
  if (is_begun) co_return past;
  co_return Error(ErrorCode::internal, "the run's journal does not begin with \"created\"");
}

// The point that a run is forked at: how many of its turns are kept, and what the user says next.
struct ForkPoint {
  std::size_t turns = 0;
  std::optional<std::string> prompt;
};

ForkPoint find_point(const std::vector<PastTurn>& turns, const ForkParams& params) {
  EventSeq from = params.from_seq.value_or(std::numeric_limits<EventSeq>::max());
  ForkPoint point;
  while (point.turns < turns.size() && turns[point.turns].is_finished() &&
         turns[point.turns].finished_at <= from) {
    ++point.turns;
  }
  if (params.overrides.prompt) {
    point.prompt = params.overrides.prompt;
    return point;
  }
  auto said_next = [&] {
    return point.turns < turns.size() ? turns[point.turns].asked.prompt : std::nullopt;
  };
  point.prompt = said_next();
  // After an answer there is nothing to ask unless the user says something, so the answer is asked
  // for again.
  while (point.turns > 0 && turns[point.turns - 1].calls == 0 && !point.prompt) {
    --point.turns;
    point.prompt = said_next();
  }
  return point;
}

// Another vendor has no use for the blocks of this one.
void drop_blocks(JournalEntry& entry) {
  if (auto* call = std::get_if<CallEntry>(&entry)) call->blocks.clear();
  if (auto* end = std::get_if<TurnEndEntry>(&entry)) end->blocks.clear();
}

std::vector<JournalEntry> first_entries(CreatedEntry created, std::vector<PastTurn> turns,
                                        ForkPoint point, bool is_same_vendor) {
  // A fork that keeps no turns replaces the prompt of the run, if it had one, with what the user
  // says.
  if (point.turns == 0 && point.prompt && created.spec.prompt) {
    created.spec.prompt = std::exchange(point.prompt, {});
  }
  std::vector<JournalEntry> journal;
  journal.emplace_back(std::move(created));
  for (std::size_t i = 0; i < point.turns; ++i) {
    journal.emplace_back(std::move(turns[i].asked));
    for (JournalEntry& entry : turns[i].entries) {
      if (!is_same_vendor) drop_blocks(entry);
      journal.push_back(std::move(entry));
    }
  }
  TurnEntry next{.turn = static_cast<int>(point.turns)};
  next.prompt = std::move(point.prompt);
  journal.emplace_back(std::move(next));
  return journal;
}

// How many entries of its session's history a run began with.
std::int64_t history_of(const std::vector<JournalEntry>& entries) {
  for (const JournalEntry& entry : entries) {
    const auto* turn = std::get_if<TurnEntry>(&entry);
    if (turn && turn->history) return *turn->history;
  }
  return 0;
}

// A fork belongs to no session: the history becomes part of the fork's own messages.
void begin_with(Spec& spec, const agent::Past& history) {
  std::vector<Message> messages;
  for (const llm::MessagePtr& message : history.messages()) messages.push_back(*message);
  for (const llm::MessagePtr& message : opening_messages(std::make_shared<const Spec>(spec))) {
    messages.push_back(*message);
  }
  spec.prompt.reset();
  spec.messages = std::move(messages);
}

}  // namespace

Task<Result<ForkedRun>> Engine::fork(Principal who, RunId run, ForkParams params,
                                     Idempotency idempotency) {
  ERRAND_CO_CHECK(check_overrides(who, params.overrides));
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  Gate::Pass pass = co_await long_reads_.enter();
  ERRAND_CO_TRY(auto whole, co_await read_past(&deps_.store, deps_.pool, row.key()));
  auto& [events, entries] = whole;
  PastReader past(events);
  for (JournalEntry& entry : entries) past.take(entry);
  std::vector<PastTurn> turns = std::move(past).turns();
  ForkPoint point = find_point(turns, params);

  const auto& origin = std::get<CreatedEntry>(entries.front());
  std::string model_id = params.overrides.model_id.value_or(origin.model.id);
  if (deps_.catalog.depends_on_source(model_id)) co_await deps_.catalog.refresh();
  ERRAND_CO_TRY(auto asked, co_await prepare(who, override_spec(origin.spec, params.overrides)));
  // The fork of a child run has no caller that waits for it.
  std::erase_if(asked.spec.metadata, [](const auto& one) { return one.first == kParentRunKey; });
  if (std::int64_t entries_before = history_of(entries); entries_before > 0) {
    ERRAND_CO_TRY(auto history, co_await agent::read_history(
                                    &deps_.store, {who.workspace, origin.session}, entries_before));
    begin_with(asked.spec, history);
    if (point.turns == 0 && point.prompt) {
      asked.spec.messages.back().text = *std::exchange(point.prompt, {});
    }
  }
  ERRAND_CO_TRY(auto created, co_await resolve(who, std::move(asked), model_id));
  ForkedFrom from{.run = run,
                  .seq = point.turns > 0 ? turns[point.turns - 1].finished_at : 0,
                  .turns = static_cast<int>(point.turns)};
  created.forked_from = from;
  bool is_same_vendor = created.model.provider == origin.model.provider;
  std::vector<JournalEntry> journal =
      first_entries(std::move(created), std::move(turns), std::move(point), is_same_vendor);
  std::vector<RunBlob> blobs = shared_blobs(journal);
  ERRAND_CO_TRY(auto outcome,
                co_await begin(who, std::move(journal), std::move(blobs), std::move(idempotency)));
  if (outcome.kind == Creation::existing) {
    // The run may have more turns than at the first of these requests.
    ERRAND_CO_TRY(auto existing,
                  co_await fold_run(&deps_.store, deps_.pool, {who.workspace, outcome.run}));
    if (existing->created().forked_from) from = *existing->created().forked_from;
  }
  co_return ForkedRun{.run = outcome.run, .from = from};
}

}  // namespace errand::engine
