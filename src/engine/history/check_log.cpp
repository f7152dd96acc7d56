#include "engine/history/check_log.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "agent/fold/state.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "run/question_id.hpp"

namespace errand::engine {
namespace {

bool is_terminal_event(std::string_view type) {
  return type == "result" || type == "error" || type == "cancelled";
}

bool is_result_event(std::string_view type) {
  return type == "tool_result" || type == "local_tool_result_in";
}

// Follows a journal as far as its order matters.
class Order final {
 public:
  // What is wrong with the entry at this place; empty if nothing is.
  std::string take(const JournalEntry& entry) {
    if (is_first_ != std::holds_alternative<CreatedEntry>(entry)) {
      return is_first_ ? "is not \"created\"" : "is a second \"created\"";
    }
    is_first_ = false;
    if (has_ended_) return "comes after the end";
    return std::visit([this](const auto& one) { return take_entry(one); }, entry);
  }

  bool has_turn() const { return turn_ >= 0; }

 private:
  std::string take_entry(const CreatedEntry&) { return {}; }
  std::string take_entry(const ToolsEntry&) {
    return std::exchange(is_bound_, true) ? "binds the tools a second time" : "";
  }
  std::string take_entry(const ResumedEntry&) { return {}; }
  std::string take_entry(const CancelEntry&) {
    return std::exchange(is_cancelled_, true) ? "is a second cancel" : "";
  }
  std::string take_entry(const TerminalEntry&) {
    has_ended_ = true;
    return {};
  }

  std::string take_entry(const TurnEntry& entry) {
    bool is_again = entry.turn == turn_;
    if (is_again && (has_turn_end_ || has_calls_))
      return "asks again for a turn that has calls or an end";
    if (is_again && entry.attempt != attempt_ + 1) return "is not the next attempt of its turn";
    if (!is_again && entry.turn != turn_ + 1) return "is not the next turn";
    if (!is_again && entry.attempt != 1) return "is not the first attempt of its turn";
    if (!is_again && turn_ >= 0 && !has_turn_end_) return "comes before the turn before it is over";
    if (!is_again && !open_.empty()) return "comes before every call has its outcome";
    if (!is_again) follows_frozen_ = is_frozen_;
    if (entry.retells && !follows_frozen_) return "retells a turn that was not cut off";
    if (!is_again && entry.repairs && std::exchange(is_repaired_, true))
      return "is a second repair";
    turn_ = entry.turn;
    attempt_ = entry.attempt;
    has_turn_end_ = has_calls_ = is_frozen_ = false;
    return {};
  }

  std::string take_entry(const CallEntry& entry) {
    if (turn_ < 0 || has_turn_end_) return "is a call outside of any turn";
    has_calls_ = true;
    open_.insert(entry.id);
    return {};
  }

  std::string take_entry(const NoteEntry& entry) {
    return open_.contains(entry.id) ? "" : "is a note of no open call";
  }

  std::string take_entry(const SampledEntry& entry) {
    return open_.contains(entry.id) ? "" : "is an answer of the model to no open call";
  }

  std::string take_entry(const AnswerEntry& entry) {
    auto call = asking_call(entry.id.view());
    return call && open_.contains(*call) ? "" : "is an answer to a question of no open call";
  }

  std::string take_entry(const OutcomeEntry& entry) {
    if (!has_turn_end_) return "is an outcome before its turn is over";
    return open_.erase(entry.id) == 0 ? "is an outcome of no open call" : "";
  }

  std::string take_entry(const TurnEndEntry& entry) {
    if (turn_ < 0 || has_turn_end_) return "ends a turn that is over";
    has_turn_end_ = true;
    is_frozen_ = entry.finish_reason == agent::kInterrupted && has_calls_;
    return {};
  }

  bool is_first_ = true;
  bool has_ended_ = false;
  bool is_cancelled_ = false;
  bool is_bound_ = false;
  int turn_ = -1;
  int attempt_ = 0;
  bool has_calls_ = false;
  bool has_turn_end_ = false;
  bool is_frozen_ = false;
  bool follows_frozen_ = false;
  bool is_repaired_ = false;
  std::set<ToolUseId> open_;
};

// What the events must show according to the journal.
struct Shown {
  struct Message {
    int turn = 0;
    std::vector<std::string> calls;
    friend bool operator==(const Message&, const Message&) = default;
  };
  struct Restart {
    EventSeq seq = 0;
    int turn = 0;
    int attempt = 0;
    friend bool operator==(const Restart&, const Restart&) = default;
  };
  std::vector<Message> messages;
  std::vector<Restart> restarts;
  std::vector<std::string> outcomes;
  std::vector<std::string> ends;
};

std::string type_of_end(const TerminalEntry& end) {
  if (end.status == RunStatus::cancelled) return "cancelled";
  return end.subtype.empty() ? "error" : "result";
}

Shown shown_by_journal(const std::vector<JournalEntry>& entries) {
  Shown shown;
  TurnEntry turn{.turn = -1};
  std::vector<std::string> calls;
  const auto& fork = std::get<CreatedEntry>(entries.front()).forked_from;
  int taken_over = fork ? fork->turns : 0;
  for (const JournalEntry& entry : entries) {
    if (const auto* asked = std::get_if<TurnEntry>(&entry)) {
      // If anything was shown before, the seq has moved on to the event that announces the restart.
      if (asked->turn == turn.turn && asked->after_seq > turn.after_seq) {
        shown.restarts.push_back({asked->after_seq, asked->turn, asked->attempt});
      }
      turn = *asked;
      calls.clear();
    } else if (const auto* end = std::get_if<TerminalEntry>(&entry)) {
      shown.ends.push_back(type_of_end(*end));
    } else if (turn.turn < taken_over) {
      continue;  // the entries that a run begins with are not shown
    } else if (const auto* call = std::get_if<CallEntry>(&entry)) {
      calls.push_back(call->id.str());
    } else if (std::holds_alternative<TurnEndEntry>(entry)) {
      shown.messages.push_back({turn.turn, calls});
    } else if (const auto* outcome = std::get_if<OutcomeEntry>(&entry)) {
      shown.outcomes.push_back(outcome->id.str());
    } else if (const auto* answer = std::get_if<AnswerEntry>(&entry)) {
      shown.outcomes.push_back(answer->id.str());
    }
  }
  return shown;
}

Shown shown_by_events(const std::vector<EventFacts>& events) {
  Shown shown;
  for (const EventFacts& event : events) {
    if (event.type == "assistant_message") shown.messages.push_back({event.turn, event.listed});
    if (event.type == "turn_restarted") {
      shown.restarts.push_back({event.seq, event.turn, event.attempt});
    }
    if (is_result_event(event.type)) shown.outcomes.push_back(event.call);
    if (is_terminal_event(event.type)) shown.ends.push_back(event.type);
  }
  return shown;
}

std::optional<std::string> first_repeated(const std::vector<JournalEntry>& entries) {
  std::set<std::string> ids;
  for (const JournalEntry& entry : entries) {
    const auto* call = std::get_if<CallEntry>(&entry);
    if (call && !ids.insert(call->id.str()).second) return call->id.str();
  }
  return {};
}

}  // namespace

bool is_same_json(std::string_view a, std::string_view b) {
  auto left = json::parse(a);
  auto right = json::parse(b);
  return left && right && *left == *right;
}

std::optional<BrokenRule> check_segments(const std::vector<SegmentPtr>& segments) {
  if (segments.empty()) return BrokenRule{"segment_numbers", "the run has no log"};
  EventSeq last_seq = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = *segments[i];
    if (segment.n != static_cast<std::int32_t>(i)) {
      return BrokenRule{"segment_numbers",
                        cat("segment ", segment.n, " stands where segment ", i, " should")};
    }
    auto lines = std::count(segment.events.begin(), segment.events.end(), '\n');
    bool is_whole = segment.events.empty() || segment.events.ends_with('\n');
    if (lines != segment.events_count || !is_whole) {
      return BrokenRule{"event_count", cat("segment ", i, " says that it has ",
                                           segment.events_count, " events, but has ", lines)};
    }
    last_seq += segment.events_count;
    if (segment.last_seq != last_seq) {
      return BrokenRule{"segment_seqs", cat("segment ", i, " ends with seq ", segment.last_seq,
                                            ", but should with ", last_seq)};
    }
  }
  return {};
}

std::optional<std::string> check_order(const std::vector<JournalEntry>& entries) {
  Order order;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string wrong = order.take(entries[i]);
    if (!wrong.empty()) return cat("entry ", i + 1, " of the journal ", wrong);
  }
  // A run may have to wait for its session's turn, or for its tools, before the model is asked.
  const auto* created = entries.empty() ? nullptr : std::get_if<CreatedEntry>(&entries.front());
  bool may_wait = created && (!created->session.empty() || !created->unbound.empty());
  if (!order.has_turn() && !may_wait) return "the journal has no turn";
  return {};
}

std::vector<BrokenRule> check_events(const std::vector<JournalEntry>& entries,
                                     const std::vector<EventFacts>& events) {
  Shown said = shown_by_journal(entries);
  Shown seen = shown_by_events(events);
  std::vector<BrokenRule> broken;
  if (auto id = first_repeated(entries)) {
    broken.push_back({"call_ids", cat("two calls have the id ", *id)});
  }
  if (seen.messages != said.messages) {
    broken.push_back({"turn_messages",
                      cat("the journal has ", said.messages.size(), " finished turns, but the ",
                          seen.messages.size(), " assistant_message events do not match them")});
  }
  if (seen.restarts != said.restarts) {
    broken.push_back({"turn_restarts",
                      cat("the journal has ", said.restarts.size(), " restarts to show, but the ",
                          seen.restarts.size(), " turn_restarted events do not match them")});
  }
  if (seen.outcomes != said.outcomes) {
    broken.push_back(
        {"outcome_events", cat("the journal has ", said.outcomes.size(), " outcomes, but the ",
                               seen.outcomes.size(), " result events do not match them")});
  }
  bool is_last = seen.ends.empty() || is_terminal_event(events.back().type);
  if (seen.ends != said.ends || !is_last) {
    broken.push_back({"terminal_event",
                      said.ends.empty()
                          ? "the run has not ended, but an event says so"
                          : cat("the run has ended, but not with one last ", said.ends.front())});
  }
  return broken;
}

}  // namespace errand::engine
