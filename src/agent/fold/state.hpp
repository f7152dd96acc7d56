#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/fold/guards.hpp"
#include "agent/fold/past.hpp"
#include "base/sparse.hpp"
#include "llm/model.hpp"
#include "run/log/event.hpp"
#include "run/log/journal.hpp"
#include "run/message.hpp"
#include "tool/dispatch_order.hpp"

namespace errand::agent {

// The finish reason of a turn that was cut off after a call.
inline constexpr std::string_view kInterrupted = "interrupted";

// The error classes of failed runs that still leave a text.
inline constexpr std::string_view kTruncation = "truncation";
inline constexpr std::string_view kOutputInvalid = "output_invalid";

// A call of the current turn.
struct CallState {
  ToolUseId id;
  std::string provider_id;
  std::string name;
  std::string arguments;
  int attempt = 0;                 // 1-based; counts all calls of this tool in the run
  int resumes = 0;                 // how often a process took the run over before the outcome
  const ToolDecl* tool = nullptr;  // nullptr: the run has no tool of this name
  std::string note = {};           // JSON text; empty: the tool has kept none
  int samples = 0;                 // how often the model has answered its server
  std::vector<AnswerEntry> answers = {};  // to what its server has asked the client
  Sparse<OutcomeEntry> outcome;
  std::uint64_t mark = 0;          // see call_mark
  std::uint64_t failure_mark = 0;  // of the outcome; 0 without one
};

// The current turn of the run.
struct TurnState {
  int index = -1;
  int attempt = 0;
  EventSeq after_seq = 0;
  std::string text;                 // the text of closed blocks, until it ends
  std::vector<std::string> blocks;  // the vendor's closed blocks, until it ends
  std::vector<CallState> calls;
  std::optional<TurnEndEntry> end;  // without text and blocks
  bool follows_frozen = false;      // the previous turn was cut off after a call
  bool retells = false;             // the previous turn is sent as text
  bool tools_off = false;
  bool repairs = false;  // the previous answer did not fit the output schema
};

// Everything about a run that decides what happens next: a pure fold over its journal. Neither
// copied nor moved, because calls point to the tools of `created`.
class State {
 public:
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void apply(JournalEntry entry);
  // The session's messages before this run. Called once, between `created` and the first turn.
  void begin_after(Past history);
  // The end was applied and could not be written: something came before it.
  void withdraw_terminal() { terminal_.reset(); }

  const CreatedEntry& created() const { return *created_; }
  // What the caller asked, if its messages and tools take long to free; nullptr otherwise.
  std::shared_ptr<const CreatedEntry> large_parts() const;
  // All tools that the run is bound to so far.
  const ToolDecls& tools() const { return tools_; }
  // Whether the tools of all refs are known.
  bool is_bound() const { return created_->unbound.empty() || is_bound_; }
  // The session's messages before this run.
  const Past& past() const { return past_; }
  // The conversation after that. Requests share its messages, so a message is replaced and never
  // changed.
  const std::vector<llm::MessagePtr>& messages() const { return messages_; }
  // How many bytes of text the conversation has: messages, calls with their arguments, and results.
  // Bytes of files, which are read when they are sent, do not count.
  std::size_t conversation_bytes() const { return conversation_bytes_; }
  // Whether the conversation may grow by this many bytes.
  bool has_room_for(std::size_t bytes) const;
  // The kept part of a result: as much as the conversation has room for, and the few bytes that
  // make the conversation too long, because of which the run ends.
  std::string_view kept_result(std::string_view text) const;
  // How many of the messages come before the run's first turn.
  std::size_t opening_size() const { return opening_size_; }
  // Includes the caller's system messages. Never null.
  const llm::TextPtr& system_prompt() const { return system_prompt_; }
  const TurnState& turn() const { return turn_; }
  // Whether the model has been asked at all. A run of a session is created before that.
  bool has_begun() const { return turn_.index >= 0; }
  const std::optional<CancelEntry>& cancel() const { return cancel_; }
  const Sparse<TerminalEntry>& terminal() const { return terminal_; }
  // Whether a process took the run over and nothing has come of it yet.
  bool is_just_resumed() const { return is_just_resumed_; }

  const CallState* find_call(const ToolUseId& id) const;
  const ToolDecl* find_tool(std::string_view name) const;
  // Which of the turn's calls their order lets start.
  DispatchOrder dispatch_order() const;
  bool all_calls_finished() const;
  // Some calls are unanswered, and only the client can answer them.
  bool waits_for_client() const;

  // The text of the last complete turn.
  const std::string& last_text() const { return last_answer_->text; }
  // The text that an ended run leaves: its answer, or an answer that was cut off or does not fit
  // the output schema. nullptr if the run leaves no text.
  const std::string* final_text() const;
  // The model was told that its answer does not fit the output schema.
  bool was_repaired() const { return was_repaired_; }
  // The vendor refused the output schema and is asked without it.
  bool is_asked_plainly() const { return is_asked_plainly_; }
  // What this run has spent, without the turns that it was forked with. The model is the model of
  // the last answer, which may be a fallback model.
  RunTotals totals() const;
  // How many of this run's own turns called tools, including the current turn, plus the tool turns
  // of runs that were called in earlier turns.
  int tool_turns() const { return tool_turns_; }
  // The calls of this run's own finished turns, for the guards.
  const std::vector<Batch>& batches() const { return batches_; }
  // The current turn calls tools, but the limit of tool turns is used up: the calls are not run.
  bool is_over_turn_limit() const { return tool_turns_ > created_->limits.max_tool_turns; }
  // How many tool turns a run that this one calls may have, and how often the model may answer the
  // servers of its calls.
  int turns_left() const;

 private:
  CallState* call_of(const ToolUseId& id);
  void close_batch();
  void retell_frozen_turn();
  void add_spent(const Usage& usage, const Sparse<Pricing>& price);
  // Whether a turn is this run's own, and not a turn that it was forked with.
  bool is_own(int turn) const;

  void apply_entry(CreatedEntry entry);
  void apply_entry(const ToolsEntry& entry);
  void add_rules(const std::vector<ToolDecl>& tools);
  void apply_entry(const ResumedEntry& entry);
  void apply_entry(const TurnEntry& entry);
  void apply_entry(CallEntry entry);
  void apply_entry(const NoteEntry& entry);
  void apply_entry(const SampledEntry& entry);
  void apply_entry(const AnswerEntry& entry);
  void apply_entry(OutcomeEntry entry);
  void apply_entry(TurnEndEntry entry);
  void apply_entry(const CancelEntry& entry);
  void apply_entry(const TerminalEntry& entry);

  std::shared_ptr<const CreatedEntry> created_ = std::make_shared<const CreatedEntry>();
  llm::TextPtr system_prompt_ = {created_, &created_->spec.system_prompt};
  ToolDecls tools_ = created_->tools;
  bool is_bound_ = false;
  Past past_;
  std::vector<llm::MessagePtr> messages_;
  std::size_t conversation_bytes_ = 0;
  std::size_t opening_size_ = 0;
  TurnState turn_;
  std::unordered_map<ToolUseId, std::size_t> call_indices_;  // of the turn's calls
  std::optional<CancelEntry> cancel_;
  Sparse<TerminalEntry> terminal_;
  llm::MessagePtr last_answer_ = std::make_shared<const Message>();  // of the last complete turn
  Usage usage_;
  std::optional<double> cost_usd_ = 0;  // nothing if the cost of a part is unknown
  bool has_spent_ = false;              // an answer of a model was counted
  int asked_ = 0;                       // model calls
  int tool_turns_ = 0;
  std::vector<Batch> batches_;
  std::map<std::string, int, std::less<>> attempts_;  // calls of each tool
  bool is_just_resumed_ = false;
  bool was_repaired_ = false;
  bool is_asked_plainly_ = false;
};

}  // namespace errand::agent
