#include "run/log/event.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

using json::ObjectWriter;

// Longer text is cut for display, so that a line stays well below the size that clients can read.
struct ShownText {
  std::string_view text;
  std::size_t full_length = 0;  // 0: the text is whole
};

ShownText shown_text(const auto& event) {
  if (event.text.size() <= kShownResultBytesMax) return {event.text, event.full_length};
  return {utf8_prefix(event.text, kShownResultBytesMax), event.text.size()};
}

void write_full_length(ObjectWriter& out, const ShownText& shown) {
  if (shown.full_length > 0) out.field("truncated", true).field("fullLength", shown.full_length);
}

void write_totals(ObjectWriter& out, const RunTotals& totals) {
  out.field("tokens", to_json(totals.usage))
      .field("turns", totals.turns)
      .field("model", to_json(totals.model));
  if (totals.output) out.field("structuredOutput", to_json(*totals.output));
  if (totals.cost_usd) out.field("costUsd", json::Value(*totals.cost_usd));
}

void write_members(ObjectWriter& out, const json::Object& members) {
  for (const auto& member : members) out.field(member.key(), member.value());
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
    if (event.echo) write_members(out, *event.echo);
  }

  void operator()(const LocalToolResultIn& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name);
    ShownText shown = shown_text(event);
    if (event.ok) {
      out.field("result", shown.text).field("output", shown.text);
    } else {
      out.field("error", shown.text);
    }
    write_full_length(out, shown);
    if (!event.files.empty()) out.field("files", json::Value(shown_files(event.files)));
  }

  void operator()(const ToolCallStarted& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name).raw("input", event.input);
    if (!event.child_run.empty()) out.field("childRunId", event.child_run.view());
  }

  void operator()(const ToolResultEvent& event) {
    ShownText shown = shown_text(event);
    out.field("toolUseId", event.id.view())
        .field("name", event.name)
        .field("ok", event.ok)
        .field("summary", shown.text)
        .field("result", shown.text);
    write_full_length(out, shown);
    if (!event.files.empty()) out.field("files", json::Value(shown_files(event.files)));
  }

  void operator()(const ToolProgress& event) {
    out.field("toolUseId", event.id.view()).field("name", event.name);
    if (!event.message.empty()) {
      out.field("message", utf8_prefix(event.message, kProgressMessageBytesMax));
    }
    if (event.progress) out.field("progress", json::Value(*event.progress));
    if (event.total) out.field("total", json::Value(*event.total));
    if (!event.child_run.empty()) out.field("childRunId", event.child_run.view());
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

  void operator()(const UnknownEvent& event) { write_members(out, event.fields); }
};

struct TypeName {
  std::string_view operator()(const auto& event) const { return event.kType; }
  std::string_view operator()(const UnknownEvent& event) const { return event.type; }
};

struct Cutter {
  void operator()(auto&) const {}
  void operator()(LocalToolResultIn& event) const { cut(event); }
  void operator()(ToolResultEvent& event) const { cut(event); }

  static void cut(auto& event) {
    ShownText shown = shown_text(event);
    event.full_length = shown.full_length;
    event.text.resize(shown.text.size());
    event.text.shrink_to_fit();
  }
};

void append_line(std::string& out, EventSeq seq, const Event& event, const json::Object* more) {
  ObjectWriter writer(out);
  writer.field("seq", seq).field("type", type_of(event));
  std::visit(FieldWriter{writer}, event);
  if (more) write_members(writer, *more);
  writer.end();
  out.push_back('\n');
}

}  // namespace

std::string_view type_of(const Event& event) {
  return std::visit(TypeName(), event);
}

Event as_shown(Event event) {
  std::visit(Cutter(), event);
  return event;
}

void append_event_line(std::string& out, EventSeq seq, const Event& event) {
  append_line(out, seq, event, nullptr);
}

void append_event_line(std::string& out, const StampedEvent& event) {
  append_line(out, event.seq, event.event, &event.more);
}

}  // namespace errand
