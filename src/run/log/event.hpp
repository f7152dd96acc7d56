#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/file_part.hpp"
#include "run/ids.hpp"
#include "run/output_schema.hpp"
#include "run/usage.hpp"

namespace errand {

// What clients of a run see, one struct per type of the protocol; kType is the type's name there.

struct AssistantDelta {
  static constexpr std::string_view kType = "assistant_delta";
  std::string text;
};

struct ThinkingDelta {
  static constexpr std::string_view kType = "thinking_delta";
  std::string text;
};

// A call as the assistant's message lists it.
struct ListedCall {
  ToolUseId id;
  std::string name;
  std::string input;  // JSON text
};

struct AssistantMessage {
  static constexpr std::string_view kType = "assistant_message";
  std::string text;
  int turn = 0;
  std::string finish_reason;
  std::vector<ListedCall> calls;
};

// A call that the caller's process is asked to answer.
struct LocalToolCall {
  static constexpr std::string_view kType = "local_tool_call";
  ToolUseId id;
  std::string name;
  std::string args;  // JSON text of an object
  std::string kind = "local";
  std::shared_ptr<const json::Object> echo = nullptr;  // more members, as the client sent them
};

// The answer that was taken for a client's call.
struct LocalToolResultIn {
  static constexpr std::string_view kType = "local_tool_result_in";
  ToolUseId id;
  std::string name;
  bool ok = true;
  std::string text;
  std::vector<FilePart> files = {};
  std::size_t full_length = 0;  // of a text that is cut; 0: it is whole
};

// A call that runs in this process.
struct ToolCallStarted {
  static constexpr std::string_view kType = "tool_call";
  ToolUseId id;
  std::string name;
  std::string input;     // JSON text
  RunId child_run = {};  // that the call is, if its tool is a stored agent
};

// The result of a call in this process, or one made up here (unknown tool, bad arguments).
struct ToolResultEvent {
  static constexpr std::string_view kType = "tool_result";
  ToolUseId id;
  std::string name;
  bool ok = true;
  std::string text;
  std::vector<FilePart> files = {};
  std::size_t full_length = 0;  // of a text that is cut; 0: it is whole
};

// How far a call has come, wherever it runs.
struct ToolProgress {
  static constexpr std::string_view kType = "tool_progress";
  ToolUseId id;
  std::string name;
  std::string message;  // may be empty
  std::optional<double> progress = {};
  std::optional<double> total = {};
  RunId child_run = {};  // that the call is, if its tool is a stored agent
};

// Longer ones are cut.
constexpr std::size_t kProgressMessageBytesMax = 4096;

// The model repeats itself. What it was told, or that it has to answer now, is in force already.
struct LoopDetected {
  static constexpr std::string_view kType = "loop_detected";
  int count = 0;  // how often in a row
  bool hard_cutoff = false;
  std::vector<std::string> tools;
};

// A call was not made, because its tool was called as often as it may. Its result comes before.
struct ToolBudgetExceeded {
  static constexpr std::string_view kType = "tool_budget_exceeded";
  std::string tool;
  int max_calls = 0;
  int call_index = 0;  // 1-based, of all attempts to call the tool
};

// What was streamed of a turn is void; the turn is asked again.
struct TurnRestarted {
  static constexpr std::string_view kType = "turn_restarted";
  int turn = 0;
  int attempt = 0;
};

// On every end: tokens, turns, model, what became of the output schema, if there is one, and what
// it has cost.
struct RunTotals {
  Usage usage;
  int turns = 0;
  ModelInfo model;
  std::optional<StructuredOutput> output = {};
  // Of the run's own turns, each at the price of the model that answered it; nothing if a price or
  // a number of tokens is unknown.
  std::optional<double> cost_usd = {};
};

// The end of a run that did what it was asked, or met a limit of its own.
struct ResultEvent {
  static constexpr std::string_view kType = "result";
  std::string subtype;  // "success" or "error_..."
  std::string text;     // the final text, or what is wrong
  RunTotals totals;
};

// The end of a run by a fault of the model, the provider or Errand.
struct ErrorEvent {
  static constexpr std::string_view kType = "error";
  std::string message;
  std::string error_class;
  std::string finish_reason;
  std::optional<std::string> partial_text;
  int api_status = 0;  // of the vendor's answer; 0: there was none
  std::string api_code = {};
  bool retryable = false;
  RunTotals totals;
};

struct CancelledEvent {
  static constexpr std::string_view kType = "cancelled";
  std::string reason;
  RunTotals totals;
};

// An event of a type that this version does not know, as it came.
struct UnknownEvent {
  std::string type;
  json::Object fields;  // all members but "seq" and "type"
};

using Event =
    std::variant<AssistantDelta, ThinkingDelta, AssistantMessage, LocalToolCall, LocalToolResultIn,
                 ToolCallStarted, ToolResultEvent, ToolProgress, LoopDetected, ToolBudgetExceeded,
                 TurnRestarted, ResultEvent, ErrorEvent, CancelledEvent, UnknownEvent>;
std::string_view type_of(const Event& event);

// An event with its place in the run's log.
struct StampedEvent {
  EventSeq seq = 0;
  Event event;
  json::Object more = {};  // members that this version does not know, kept to be relayed
};

// Results longer than this are shown cut, with their full length named; the model gets all of it.
constexpr std::size_t kShownResultBytesMax = 64 * 1024;
// The event as its stored line tells it: with a long result cut.
Event as_shown(Event event);

// Appends the event as one stored line: {"seq":N,"type":"T",...fields}\n.
void append_event_line(std::string& out, EventSeq seq, const Event& event);
void append_event_line(std::string& out, const StampedEvent& event);

// Reads a stored line, with its newline or without. Members that are missing are empty.
// internal: not an event, or a member of another type than it should have.
Result<StampedEvent> parse_event(std::string_view line);
Result<StampedEvent> parse_event(json::Object members);

// A client's call from the members of its event, or of its entry in a list of pending calls.
// internal: see parse_event.
Result<LocalToolCall> parse_local_call(json::Object members);

}  // namespace errand
