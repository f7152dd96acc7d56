#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/guards.hpp"
#include "run/event.hpp"
#include "run/journal.hpp"
#include "run/message.hpp"

namespace errand::agent {

// The finish reason of a turn that was cut off after a call.
inline constexpr std::string_view kInterrupted = "interrupted";

// The error classes of ends that leave a text, although it is not an answer.
inline constexpr std::string_view kTruncation = "truncation";
inline constexpr std::string_view kOutputInvalid = "output_invalid";

// A call of the current turn.
struct CallState {
  ToolUseId id;
  std::string provider_id;
  std::string name;
  std::string arguments;
  int attempt = 0;                 // 1-based, of all calls of its tool in this run
  int resumes = 0;                 // how often a process took the run over before it had an outcome
  const ToolDecl* tool = nullptr;  // nullptr: the model asked for a tool there is not
  std::optional<OutcomeEntry> outcome;
};

// The turn the run is in.
struct TurnState {
  int index = -1;
  int attempt = 0;
  EventSeq after_seq = 0;
  std::string text;                 // of closed blocks
  std::vector<std::string> blocks;  // the vendor's closed blocks
  std::vector<CallState> calls;
  std::optional<TurnEndEntry> end;
  bool follows_frozen = false;  // the turn before it was cut off after a call
  bool retells = false;         // and is told in plain words
  bool tools_off = false;
  bool repairs = false;  // the answer before it did not fit the output schema
};

// Everything about a run that matters for what happens next: a pure fold over its journal. The
// tools that calls point to live in `created`, so a State is neither copied nor moved.
class State {
 public:
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void apply(const JournalEntry& entry);
  // The end was applied and could not be written: something came before it.
  void withdraw_terminal() { terminal_.reset(); }

  const CreatedEntry& created() const { return created_; }
  const std::vector<Message>& messages() const { return messages_; }
  // With the system's messages in it.
  const std::string& system_prompt() const {
    return system_prompt_ ? *system_prompt_ : created_.spec.system_prompt;
  }
  const TurnState& turn() const { return turn_; }
  const std::optional<CancelEntry>& cancel() const { return cancel_; }
  const std::optional<TerminalEntry>& terminal() const { return terminal_; }
  // Whether a process took the run over and nothing has come of it yet.
  bool is_just_resumed() const { return is_just_resumed_; }

  const CallState* find_call(const ToolUseId& id) const;
  const ToolDecl* find_tool(std::string_view name) const;
  // Whether nothing of the turn's order stands in the way of this call.
  bool may_start(std::size_t index) const;
  bool all_calls_finished() const;
  // Calls are open, and all of them are the client's to answer.
  bool waits_for_client() const;

  // Text of the last complete turn.
  const std::string& last_text() const { return last_text_; }
  // The text that an ended run leaves: its answer, or one that was cut off or does not fit its
  // schema; nullptr if there is none.
  const std::string* final_text() const;
  // The model was told that its answer does not fit the output schema.
  bool was_repaired() const { return was_repaired_; }
  // The vendor would not have the output schema, and is asked without it.
  bool is_asked_plainly() const { return is_asked_plainly_; }
  // What this run itself has spent: not the turns that it begins with. The model is the one whose
  // answer the run is at, which may have answered in place of the run's own.
  RunTotals totals() const;
  // Turns of this run's own that called tools, the current one included.
  int tool_turns() const { return tool_turns_; }
  // The calls of this run's own turns that are over, for the guards.
  const std::vector<Batch>& batches() const { return batches_; }
  // The current turn calls tools although no more turns may: its calls are not run.
  bool is_over_turn_limit() const { return tool_turns_ > created_.limits.max_tool_turns; }

 private:
  void retell_frozen_turn();
  // Whether a turn is this run's own, not one it was forked with.
  bool is_own(int turn) const;

  void apply_entry(const CreatedEntry& entry);
  void apply_entry(const ResumedEntry& entry);
  void apply_entry(const TurnEntry& entry);
  void apply_entry(const CallEntry& entry);
  void apply_entry(const OutcomeEntry& entry);
  void apply_entry(const TurnEndEntry& entry);
  void apply_entry(const CancelEntry& entry);
  void apply_entry(const TerminalEntry& entry);

  CreatedEntry created_;
  std::optional<std::string> system_prompt_;  // where it is not the caller's alone
  std::vector<Message> messages_;
  TurnState turn_;
  std::optional<CancelEntry> cancel_;
  std::optional<TerminalEntry> terminal_;
  std::string last_text_;
  Usage usage_;
  int asked_ = 0;  // model calls
  int tool_turns_ = 0;
  std::vector<Batch> batches_;
  std::map<std::string, int, std::less<>> attempts_;  // calls of each tool
  bool is_just_resumed_ = false;
  bool was_repaired_ = false;
  bool is_asked_plainly_ = false;
};

}  // namespace errand::agent
