#include "server/run_json.hpp"

#include "crypto/digest.hpp"
#include "json/parse.hpp"

namespace errand::server {
namespace {

json::Value failure_reason(const TerminalEntry& end) {
  if (end.status != RunStatus::failed) return nullptr;
  json::Object reason;
  if (!end.error_class.empty()) reason["errorClass"] = end.error_class;
  if (!end.subtype.empty()) reason["subtype"] = end.subtype;
  if (!end.finish_reason.empty()) reason["finishReason"] = end.finish_reason;
  return reason;
}

void add_end(json::Object& out, const agent::State& state) {
  const auto& end = state.terminal();
  if (!end) {
    for (const char* key : {"finalText", "error", "failureReason", "tokens", "turns", "model"}) {
      out[key] = nullptr;
    }
    return;
  }
  bool has_text = end->status == RunStatus::succeeded || end->error_class == "truncation";
  out["finalText"] = has_text ? json::Value(state.last_text()) : json::Value();
  out["error"] = end->status == RunStatus::failed ? json::Value(end->message) : json::Value();
  out["failureReason"] = failure_reason(*end);
  RunTotals totals = state.totals();
  out["tokens"] = to_json(totals.usage);
  out["turns"] = totals.turns;
  out["model"] = to_json(totals.model);
}

}  // namespace

json::Object row_json(const RunRow& row) {
  json::Object out{{"id", row.id.view()},
                   {"runId", row.id.view()},
                   {"name", row.name},
                   {"status", to_string(row.status)},
                   {"modelId", row.model_id},
                   {"createdAt", to_iso8601(row.created_at)},
                   {"updatedAt", to_iso8601(row.updated_at)},
                   {"lastSeq", row.last_seq}};
  auto metadata = json::parse(row.metadata);
  out["metadata"] = metadata ? std::move(*metadata) : json::Value(json::Object());
  return out;
}

json::Object snapshot_json(const engine::RunView& run) {
  json::Object out = row_json(run.row);
  add_end(out, *run.state);
  out["spec"] = to_json(run.state->created().spec);
  return out;
}

std::string fingerprint(std::string_view body) {
  return crypto::to_hex(crypto::sha256(body));
}

}  // namespace errand::server
