#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/sparse.hpp"
#include "run/ids.hpp"
#include "run/run_format.hpp"
#include "run/spec.hpp"
#include "run/status.hpp"
#include "run/tools/tool_decl.hpp"
#include "run/usage.hpp"

namespace errand {

// The journal of a run: the facts from which its state is folded. Deltas are not needed for it.
// Stored as one JSON object per line: {"entry":"turn",...}. docs/wire/journal.md has the format.

// Limits in force for the run, pinned when it is created.
struct RunLimits {
  milliseconds local_tool_timeout{300'000};
  OnTimeout on_local_tool_timeout = OnTimeout::fail;
  int max_tool_turns = 32;
  std::optional<std::size_t> conversation_bytes;  // absent: an older program pinned none
  milliseconds run_time{86'400'000};  // from creation to the end, whatever happens in between
  OnTurnsExceeded on_turns_exceeded = OnTurnsExceeded::fail;
  std::optional<LoopLimits> loop;  // absent: calls may repeat themselves
  ToolBudgets tool_budgets;
};

// The run whose first turns a run begins with. They were not asked by it and have no events in its
// log; what they spent, and how often they were tried, is not told.
struct ForkedFrom {
  RunId run;
  EventSeq seq = 0;  // where in that run's log the last of them was finished
  int turns = 0;

  friend bool operator==(const ForkedFrom&, const ForkedFrom&) = default;
};

// The call of a stored agent that a run carries out.
struct ParentCall {
  RunId run;
  ToolUseId call;
  int depth = 1;  // how many runs are above it

  friend bool operator==(const ParentCall&, const ParentCall&) = default;
};
// A run this far down calls no agents.
constexpr int kChildDepthMax = 5;

// What was asked, with everything resolved that could change later.
struct CreatedEntry {
  Spec spec;
  ModelInfo model;
  Sparse<Pricing> price = {};         // of the model, if that is known
  ToolDecls tools = share_decls({});  // in the order of the spec
  // Indices of the spec's tool refs that the run binds in its first step, because somebody has to
  // be asked about them.
  std::vector<std::size_t> unbound = {};
  RunLimits limits;
  WallTime at{};
  StoreTime ends_by{};     // when the run is out of time; 0 in journals without it
  KeyId key = {};          // of whoever asked; empty in this process
  SessionId session = {};  // that it carries on; empty: none
  int format = kRunFormat;
  Sparse<ForkedFrom> forked_from;
  Sparse<ParentCall> parent = {};
  // The agents that the caller may run; absent: any. Only of a run that may call agents.
  std::optional<std::vector<std::string>> allowed_agents = {};
  OutputMechanism output_mechanism = OutputMechanism::plain;  // of the spec's output schema
  std::string fallback = {};     // the catalog id of the spec's fallback model; empty without one
  std::string traceparent = {};  // the caller's span; empty: the run begins a trace of its own
  std::string request_id = {};   // of the request that made the run; empty: none
};

// The tools of the refs that had to be asked about. A source that could not be reached has a stub.
struct ToolsEntry {
  ToolDecls tools = share_decls({});
  std::string hash = {};  // of their bindings, if these are kept beside the journal
};

// A process that found the run unfinished goes on with it.
struct ResumedEntry {
  WallTime at{};
};

// The model is asked.
struct TurnEntry {
  int turn = 0;            // 0-based
  int attempt = 1;         // 1-based, of this turn
  EventSeq after_seq = 0;  // the log's last seq when it was asked: anything later is of this turn
  // The vendor refused the frozen turn before this one, so that one is told in plain words instead.
  bool retells = false;
  bool tools_off = false;  // the model has to answer without calling any
  bool repairs = false;    // the answer before it did not fit the output schema
  // The vendor would not have the output schema: from here on it is told in words.
  bool plain_output = false;
  // What the user says before it, after the results of the turn before it. On a first attempt only.
  std::optional<std::string> prompt;
  // Of the first turn of a session's run: how far the session's history reached.
  std::optional<std::int64_t> history = {};
};

// The block of a call is closed: the turn is frozen from here on if it breaks.
struct CallEntry {
  ToolUseId id;
  std::string provider_id;
  std::string name;
  std::string arguments;            // raw text
  std::string text;                 // the turn's text since the last call
  std::vector<std::string> blocks;  // the vendor's blocks since the last call, this one included
};

// What a tool of this process wants to know again if the call is resumed after a restart. A later
// note of the call takes the place of an earlier one.
struct NoteEntry {
  ToolUseId id;
  std::string note;  // JSON text of an object
};
constexpr std::size_t kNoteBytesMax = 4096;

// The run's model has answered a question of a call's server.
struct SampledEntry {
  ToolUseId id;  // of the call
  Usage usage;
  Sparse<Pricing> price = {};  // of the model that answered, if that is known
};

// A question that a call's server has asked the client is over.
struct AnswerEntry {
  ToolUseId id;       // of the question (run/question_id.hpp)
  std::string asked;  // the SHA-256 of what was asked, in hex
  bool ok = true;
  std::string text;
  bool timed_out = false;  // nobody answered in time
};

struct OutcomeEntry {
  ToolUseId id;
  bool ok = true;
  std::string text;
  bool timed_out = false;  // nobody answered in time
  bool synthetic = false;  // the call was never made: it follows from the entries before
  std::vector<FilePart> files = {};
  bool is_fatal = false;  // the run ends with it
  int child_turns = 0;    // the tool turns that the run of a called agent has used
};

// Why a turn's model call failed.
struct ModelFailure {
  std::string error_class;  // "overloaded", "auth", ...: the protocol's errorClass
  std::string message;
  bool retryable = false;
  int api_status = 0;
  std::string api_code;
};

// A model that answered in place of the run's own.
struct AnsweredBy {
  ModelInfo model;
  OutputMechanism output_mechanism = OutputMechanism::plain;  // of the spec's output schema
  Sparse<Pricing> price = {};                                 // of the model, if that is known
};

// The turn is over: complete, or cut off after its last closed call.
struct TurnEndEntry {
  std::string text;                 // the turn's text since the last call
  std::vector<std::string> blocks;  // the vendor's blocks since the last call
  std::string finish_reason;        // "end_turn", "tool_use", "max_tokens", "interrupted", ...
  Usage usage;
  Sparse<ModelFailure> fatal;           // the run ends with it once the turn's calls have finished
  Sparse<AnsweredBy> answered_by = {};  // absent: by the run's own model
};

struct CancelEntry {
  std::string reason;
  WallTime at{};
};

// The end. Text, tokens and turns follow from the entries before it.
struct TerminalEntry {
  RunStatus status = RunStatus::succeeded;
  std::string subtype;  // of a `result`; empty for an `error` and for `cancelled`
  std::string message;  // what went wrong, or the reason of the cancel
  std::string error_class;
  std::string finish_reason;
  bool retryable = false;
  int api_status = 0;  // of the vendor's answer; 0: there was none
  std::string api_code = {};
};

using JournalEntry =
    std::variant<CreatedEntry, ToolsEntry, ResumedEntry, TurnEntry, CallEntry, NoteEntry,
                 SampledEntry, AnswerEntry, OutcomeEntry, TurnEndEntry, CancelEntry, TerminalEntry>;

void append_journal_line(std::string& out, const JournalEntry& entry);

// internal: the text is not a journal. unsupported: a newer version wrote it.
Result<std::vector<JournalEntry>> parse_journal(std::string_view text);
// One line of it, the one of this number (from 1 on) for what is said of a mistake.
Result<JournalEntry> parse_journal_line(std::string_view line, std::size_t number);

}  // namespace errand
