#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/value.hpp"
#include "run/file_part.hpp"
#include "run/ids.hpp"
#include "run/output_schema.hpp"
#include "run/usage.hpp"

namespace errand {

// What clients of a run see, one struct per type of the protocol.

struct AssistantDelta {
  std::string text;
};

struct ThinkingDelta {
  std::string text;
};

// A call as the assistant's message lists it.
struct ListedCall {
  ToolUseId id;
  std::string name;
  std::string input;  // JSON text
};

struct AssistantMessage {
  std::string text;
  int turn = 0;
  std::string finish_reason;
  std::vector<ListedCall> calls;
};

// A call that the caller's process is asked to answer.
struct LocalToolCall {
  ToolUseId id;
  std::string name;
  std::string args;  // JSON text of an object
  std::string kind = "local";
  std::shared_ptr<const json::Object> echo = nullptr;  // more members, as the client sent them
};

// The answer that was taken for a client's call.
struct LocalToolResultIn {
  ToolUseId id;
  std::string name;
  bool ok = true;
  std::string text;
  std::vector<FilePart> files = {};
};

// A call that runs in this process.
struct ToolCallStarted {
  ToolUseId id;
  std::string name;
  std::string input;  // JSON text
};

// The result of a call in this process, or one made up here (unknown tool, bad arguments).
struct ToolResultEvent {
  ToolUseId id;
  std::string name;
  bool ok = true;
  std::string text;
};

// The model repeats itself. What it was told, or that it has to answer now, is in force already.
struct LoopDetected {
  int count = 0;  // how often in a row
  bool hard_cutoff = false;
  std::vector<std::string> tools;
};

// A call was not made, because its tool was called as often as it may. Its result comes before.
struct ToolBudgetExceeded {
  std::string tool;
  int max_calls = 0;
  int call_index = 0;  // 1-based, of all attempts to call the tool
};

// What was streamed of a turn is void; the turn is asked again.
struct TurnRestarted {
  int turn = 0;
  int attempt = 0;
};

// On every end: tokens, turns, model, and what became of the output schema, if there is one.
struct RunTotals {
  Usage usage;
  int turns = 0;
  ModelInfo model;
  std::optional<StructuredOutput> output = {};
};

// The end of a run that did what it was asked, or met a limit of its own.
struct ResultEvent {
  std::string subtype;  // "success" or "error_..."
  std::string text;     // the final text, or what is wrong
  RunTotals totals;
};

// The end of a run by a fault of the model, the provider or Errand.
struct ErrorEvent {
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
  std::string reason;
  RunTotals totals;
};

using Event =
    std::variant<AssistantDelta, ThinkingDelta, AssistantMessage, LocalToolCall, LocalToolResultIn,
                 ToolCallStarted, ToolResultEvent, LoopDetected, ToolBudgetExceeded, TurnRestarted,
                 ResultEvent, ErrorEvent, CancelledEvent>;

// Results longer than this are shown cut, with their full length named; the model gets all of it.
constexpr std::size_t kShownResultBytesMax = 64 * 1024;

// Appends the event as one stored line: {"seq":N,"type":"T",...fields}\n.
void append_event_line(std::string& out, EventSeq seq, const Event& event);

// Appends a stored line (without its newline) as a server-sent event. The fields come flat and once
// more under "data", because some clients read one place and some the other.
void append_sse_frame(std::string& out, std::string_view line);

// The parts of a stored line.
struct EventLine {
  EventSeq seq = 0;
  std::string_view type;
  std::string_view fields;  // `"text":"hi"`: members without braces; may be empty
};
EventLine split_event_line(std::string_view line);

}  // namespace errand
