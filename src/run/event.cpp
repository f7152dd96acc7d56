#include "run/event.hpp"

#include "base/assert.hpp"
#include "base/text.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

using json::ObjectWriter;

// Longer text is cut for display, so that a line stays far below what clients can read.
void write_shown(ObjectWriter& out, std::string_view key, std::string_view text) {
  out.field(key, utf8_prefix(text, kShownResultBytesMax));
}

void write_full_length(ObjectWriter& out, std::string_view text) {
  if (text.size() <= kShownResultBytesMax) return;
  out.field("truncated", true).field("fullLength", text.size());
}

void write_totals(ObjectWriter& out, const RunTotals& totals) {
  out.field("tokens", to_json(totals.usage))
      .field("turns", totals.turns)
      .field("model", to_json(totals.model));
  if (totals.output) out.field("structuredOutput", to_json(*totals.output));
}

struct FieldWriter {
  ObjectWriter& out;

  void operator()(const AssistantDelta& event) { out.field("text", event.text); }
  void operator()(const ThinkingDelta& event) { out.field("text", event.text); }

  void operator()(const AssistantMessage& event) {
    out.field("text", event.text).field("turn", event.turn);
    if (!event.finish_reason.empty()) out.field("finishReason", event.finish_reason);
    if (event.calls.empty()) return;
    std::string calls = "[";
    for (const ListedCall& call : event.calls) {
      if (calls.size() > 1) calls += ',';
      ObjectWriter(calls)
          .field("id", call.id.view())
          .field("name", call.name)
          .raw("input", call.input)
          .end();
    }
    out.raw("toolCalls", calls + "]");
  }

  void operator()(const LocalToolCall& event) {
    out.field("toolUseId", event.id.view())
        .field("name", event.name)
        .raw("args", event.args)
        .field("kind", event.kind);
    if (!event.echo) return;
    for (const auto& member : *event.echo) out.field(member.key(), member.value());
  }

  void operator()(const LocalToolResultIn& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name);
    if (event.ok) {
      write_shown(out, "result", event.text);
      write_shown(out, "output", event.text);
    } else {
      write_shown(out, "error", event.text);
    }
    write_full_length(out, event.text);
    if (!event.files.empty()) out.field("files", json::Value(shown_files(event.files)));
  }

  void operator()(const ToolCallStarted& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name).raw("input", event.input);
  }

  void operator()(const ToolResultEvent& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name).field("ok", event.ok);
    write_shown(out, "summary", event.text);
    write_shown(out, "result", event.text);
    write_full_length(out, event.text);
  }

  void operator()(const LoopDetected& event) {
    json::Array tools;
    for (const std::string& tool : event.tools) tools.emplace_back(tool);
    out.field("consecutiveCount", event.count)
        .field("hardCutoff", event.hard_cutoff)
        .field("tools", json::Value(std::move(tools)));
  }

  void operator()(const ToolBudgetExceeded& event) {
    out.field("tool", event.tool)
        .field("maxCalls", event.max_calls)
        .field("callIndex", event.call_index);
  }

  void operator()(const TurnRestarted& event) {
    out.field("turn", event.turn).field("attempt", event.attempt);
  }

  void operator()(const ResultEvent& event) {
    bool ok = event.subtype == "success";
    out.field("ok", ok).field("subtype", event.subtype);
    if (ok) {
      out.field("text", event.text);
    } else {
      out.field("error", event.text).field("message", event.text);
    }
    write_totals(out, event.totals);
  }

  void operator()(const ErrorEvent& event) {
    out.field("error", event.message)
        .field("message", event.message)
        .field("code", event.error_class)
        .field("errorClass", event.error_class);
    if (!event.finish_reason.empty()) out.field("finishReason", event.finish_reason);
    if (event.partial_text) out.field("partialText", *event.partial_text);
    if (event.api_status != 0) out.field("apiStatus", event.api_status);
    if (!event.api_code.empty()) out.field("apiCode", event.api_code);
    out.field("retryable", event.retryable);
    write_totals(out, event.totals);
  }

  void operator()(const CancelledEvent& event) {
    out.field("reason", event.reason);
    write_totals(out, event.totals);
  }
};

struct TypeName {
  std::string_view operator()(const AssistantDelta&) const { return "assistant_delta"; }
  std::string_view operator()(const ThinkingDelta&) const { return "thinking_delta"; }
  std::string_view operator()(const AssistantMessage&) const { return "assistant_message"; }
  std::string_view operator()(const LocalToolCall&) const { return "local_tool_call"; }
  std::string_view operator()(const LocalToolResultIn&) const { return "local_tool_result_in"; }
  std::string_view operator()(const ToolCallStarted&) const { return "tool_call"; }
  std::string_view operator()(const ToolResultEvent&) const { return "tool_result"; }
  std::string_view operator()(const LoopDetected&) const { return "loop_detected"; }
  std::string_view operator()(const ToolBudgetExceeded&) const { return "tool_budget_exceeded"; }
  std::string_view operator()(const TurnRestarted&) const { return "turn_restarted"; }
  std::string_view operator()(const ResultEvent&) const { return "result"; }
  std::string_view operator()(const ErrorEvent&) const { return "error"; }
  std::string_view operator()(const CancelledEvent&) const { return "cancelled"; }
};

constexpr std::string_view kSeqStart = "{\"seq\":";
constexpr std::string_view kTypeStart = ",\"type\":\"";

}  // namespace

void append_event_line(std::string& out, EventSeq seq, const Event& event) {
  ObjectWriter writer(out);
  writer.field("seq", seq).field("type", std::visit(TypeName(), event));
  std::visit(FieldWriter{writer}, event);
  writer.end();
  out.push_back('\n');
}

EventLine split_event_line(std::string_view line) {
  ERRAND_ASSERT(line.starts_with(kSeqStart));
  std::size_t seq_end = line.find(',');
  auto seq = parse_integer<EventSeq>(line.substr(kSeqStart.size(), seq_end - kSeqStart.size()));
  ERRAND_ASSERT(seq && line.substr(seq_end).starts_with(kTypeStart) && line.ends_with('}'));
  std::size_t type_start = seq_end + kTypeStart.size();
  std::size_t type_end = line.find('"', type_start);
  std::string_view rest = line.substr(type_end + 1, line.size() - type_end - 2);
  if (rest.starts_with(',')) rest.remove_prefix(1);
  return {*seq, line.substr(type_start, type_end - type_start), rest};
}

void append_sse_frame(std::string& out, std::string_view line) {
  EventLine event = split_event_line(line);
  append(out, "id: ", event.seq, "\nevent: ", event.type, "\ndata: ");
  out.append(line.substr(0, line.size() - 1));
  append(out, ",\"data\":{", event.fields, "}}\n\n");
}

}  // namespace errand
