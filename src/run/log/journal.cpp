#include "run/log/journal.hpp"

#include "json/write.hpp"

namespace errand {
namespace {

using json::ObjectWriter;

std::string blocks_json(const std::vector<std::string>& blocks) {
  std::string out = "[";
  for (const std::string& block : blocks) {
    if (out.size() > 1) out += ',';
    out += block;
  }
  return out + "]";
}

json::Object to_json(const ModelFailure& failure) {
  return {{"errorClass", failure.error_class},
          {"message", failure.message},
          {"retryable", failure.retryable},
          {"apiStatus", failure.api_status},
          {"apiCode", failure.api_code}};
}

json::Object to_json(const RunLimits& limits) {
  json::Object out{
      {"localToolTimeoutMs", limits.local_tool_timeout.count()},
      {"onLocalToolTimeout", limits.on_local_tool_timeout == OnTimeout::fail ? "fail" : "continue"},
      {"maxToolTurns", limits.max_tool_turns},
      {"runMs", limits.run_time.count()}};
  if (limits.conversation_bytes) out["conversationBytes"] = *limits.conversation_bytes;
  if (limits.on_turns_exceeded == OnTurnsExceeded::finalize) {
    out["maxToolTurnsExceeded"] = "finalize";
  }
  if (limits.loop) {
    out["loop"] = {{"nudgeAt", limits.loop->nudge_at}, {"cutOffAt", limits.loop->cut_off_at}};
  }
  if (!limits.tool_budgets.empty()) out["toolBudgets"] = errand::to_json(limits.tool_budgets);
  return out;
}

json::Object to_json(const ForkedFrom& fork) {
  return {{"runId", fork.run.view()}, {"seq", fork.seq}, {"turns", fork.turns}};
}

json::Object to_json(const ParentCall& parent) {
  return {{"runId", parent.run.view()}, {"toolUseId", parent.call.view()}, {"depth", parent.depth}};
}

json::Object to_json(const AnsweredBy& by) {
  json::Object out = errand::to_json(by.model);
  out["outputMechanism"] = to_string(by.output_mechanism);
  if (by.price) out["price"] = errand::to_json(*by.price);
  return out;
}

struct EntryWriter {
  std::string& text;  // what `out` writes to
  ObjectWriter& out;

  void operator()(const CreatedEntry& entry) {
    out.field("entry", "created").raw("spec", "");
    errand::write(text, entry.spec);
    out.field("model", errand::to_json(entry.model))
        .field("limits", to_json(entry.limits))
        .field("at", to_millis(entry.at))
        .field("format", entry.format)
        .field("endsBy", to_millis(entry.ends_by));
    if (!entry.key.empty()) out.field("key", entry.key.view());
    if (!entry.session.empty()) out.field("session", entry.session.view());
    if (entry.price) out.field("price", errand::to_json(*entry.price));
    if (!entry.fallback.empty()) out.field("fallback", entry.fallback);
    if (!entry.request_id.empty()) out.field("requestId", entry.request_id);
    if (!entry.traceparent.empty()) out.field("traceparent", entry.traceparent);
    if (entry.forked_from) out.field("forkedFrom", to_json(*entry.forked_from));
    if (entry.parent) out.field("parent", to_json(*entry.parent));
    if (entry.allowed_agents) {
      json::Array agents;
      for (const std::string& agent : *entry.allowed_agents) agents.emplace_back(agent);
      out.field("allowedAgents", json::Value(std::move(agents)));
    }
    if (entry.spec.output_schema) {
      out.field("outputMechanism", to_string(entry.output_mechanism));
    }
    // The declarations of client tools follow from the spec.
    const ToolSet& set = *entry.spec.tools;
    if (!set.bindings_hash.empty()) {
      out.field("bindings", json::Object{{"sha256", set.bindings_hash}});
    } else if (std::string pinned = bindings_of(*entry.tools); !pinned.empty()) {
      out.raw("bindings", pinned);
    }
    if (!entry.unbound.empty()) {
      json::Array refs;
      for (std::size_t ref : entry.unbound) refs.emplace_back(ref);
      out.field("unbound", json::Value(std::move(refs)));
    }
  }

  void operator()(const ToolsEntry& entry) {
    out.field("entry", "tools");
    if (!entry.hash.empty()) {
      out.field("bindings", json::Object{{"sha256", entry.hash}});
    } else {
      out.raw("bindings", bindings_of(*entry.tools, BoundTools::all));
    }
  }

  void operator()(const ResumedEntry& entry) {
    out.field("entry", "resumed").field("at", to_millis(entry.at));
  }

  void operator()(const TurnEntry& entry) {
    out.field("entry", "turn")
        .field("turn", entry.turn)
        .field("attempt", entry.attempt)
        .field("afterSeq", entry.after_seq);
    if (entry.retells) out.field("retells", true);
    if (entry.tools_off) out.field("toolsOff", true);
    if (entry.repairs) out.field("repairs", true);
    if (entry.plain_output) out.field("plainOutput", true);
    if (entry.prompt) out.field("prompt", *entry.prompt);
    if (entry.history) out.field("history", *entry.history);
  }

  void operator()(const CallEntry& entry) {
    out.field("entry", "call")
        .field("id", entry.id.view())
        .field("providerId", entry.provider_id)
        .field("name", entry.name)
        .field("arguments", entry.arguments)
        .field("text", entry.text)
        .raw("blocks", blocks_json(entry.blocks));
  }

  void operator()(const NoteEntry& entry) {
    out.field("entry", "note").field("id", entry.id.view()).raw("note", entry.note);
  }

  void operator()(const SampledEntry& entry) {
    out.field("entry", "sampled")
        .field("id", entry.id.view())
        .field("usage", errand::to_json(entry.usage));
    if (entry.price) out.field("price", errand::to_json(*entry.price));
  }

  void operator()(const AnswerEntry& entry) {
    out.field("entry", "answer")
        .field("id", entry.id.view())
        .field("asked", entry.asked)
        .field("ok", entry.ok)
        .field("text", entry.text);
    if (entry.timed_out) out.field("timedOut", true);
  }

  void operator()(const OutcomeEntry& entry) {
    out.field("entry", "outcome")
        .field("id", entry.id.view())
        .field("ok", entry.ok)
        .field("text", entry.text);
    if (entry.timed_out) out.field("timedOut", true);
    if (entry.synthetic) out.field("synthetic", true);
    if (!entry.files.empty()) out.field("files", json::Value(errand::to_json(entry.files)));
    if (entry.is_fatal) out.field("fatal", true);
    if (entry.child_turns > 0) out.field("childTurns", entry.child_turns);
  }

  void operator()(const TurnEndEntry& entry) {
    out.field("entry", "turn_end")
        .field("text", entry.text)
        .raw("blocks", blocks_json(entry.blocks))
        .field("finishReason", entry.finish_reason)
        .field("usage", errand::to_json(entry.usage));
    if (entry.fatal) out.field("fatal", to_json(*entry.fatal));
    if (entry.answered_by) out.field("answeredBy", to_json(*entry.answered_by));
  }

  void operator()(const CancelEntry& entry) {
    out.field("entry", "cancel").field("reason", entry.reason).field("at", to_millis(entry.at));
  }

  void operator()(const TerminalEntry& entry) {
    out.field("entry", "terminal")
        .field("status", to_string(entry.status))
        .field("subtype", entry.subtype)
        .field("message", entry.message)
        .field("errorClass", entry.error_class)
        .field("finishReason", entry.finish_reason)
        .field("retryable", entry.retryable);
    if (entry.api_status != 0) out.field("apiStatus", entry.api_status);
    if (!entry.api_code.empty()) out.field("apiCode", entry.api_code);
  }
};

}  // namespace

void append_journal_line(std::string& out, const JournalEntry& entry) {
  ObjectWriter writer(out);
  std::visit(EntryWriter{out, writer}, entry);
  writer.end();
  out.push_back('\n');
}

}  // namespace errand
