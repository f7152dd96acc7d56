#include "server/routes/run_json.hpp"

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "run/log/mail.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kAboutBytesMax = 240;

json::Value failure_reason(const TerminalEntry& end) {
  if (end.status != RunStatus::failed) return nullptr;
  json::Object reason;
  if (!end.error_class.empty()) reason["errorClass"] = end.error_class;
  if (!end.subtype.empty()) reason["subtype"] = end.subtype;
  if (!end.finish_reason.empty()) reason["finishReason"] = end.finish_reason;
  if (end.api_status != 0) reason["apiStatus"] = end.api_status;
  if (!end.api_code.empty()) reason["apiCode"] = end.api_code;
  return reason;
}

void add_end(json::Object& out, const agent::State& state) {
  const auto& end = state.terminal();
  if (!end) {
    for (const char* key : {"finalText", "error", "failureReason", "tokens", "turns", "model"}) {
      out[key] = nullptr;
    }
    if (state.created().spec.output_schema) out["structuredOutput"] = nullptr;
    return;
  }
  const std::string* text = state.final_text();
  out["finalText"] = text ? json::Value(*text) : json::Value();
  out["error"] = end->status == RunStatus::failed ? json::Value(end->message) : json::Value();
  out["failureReason"] = failure_reason(*end);
  RunTotals totals = state.totals();
  out["tokens"] = to_json(totals.usage);
  out["turns"] = totals.turns;
  out["model"] = to_json(totals.model);
  if (totals.output) out["structuredOutput"] = to_json(*totals.output);
  if (totals.cost_usd) out["costUsd"] = *totals.cost_usd;
}

// The prompt of a fork, which comes after the turns that it took over; null if the fork has none of
// its own.
const std::string* own_prompt(const agent::State& state) {
  const auto turns = static_cast<std::size_t>(state.created().forked_from->turns);
  if (turns == 0) return nullptr;
  std::size_t answers = 0;
  for (std::size_t i = state.opening_size(); i < state.messages().size(); ++i) {
    const Message& message = *state.messages()[i];
    const bool is_answer = message.role == Role::assistant;
    if (is_answer && answers == turns) return nullptr;
    if (is_answer) ++answers;
    const bool is_said = message.role == Role::user && message.results.empty();
    if (answers == turns && is_said) return &message.text;
  }
  return nullptr;
}

// The last thing that the run was asked: its prompt, or the last of its messages; null if it has
// neither.
const std::string* asked_last(const agent::State& state) {
  const Spec& spec = state.created().spec;
  const std::string* own = state.created().forked_from ? own_prompt(state) : nullptr;
  if (own) return own;
  if (spec.prompt) return &*spec.prompt;
  return spec.messages.empty() ? nullptr : &spec.messages.back().text;
}

json::Array pending_json(const engine::RunView& run) {
  json::Array pending;
  for (const engine::PendingCall& call : run.pending) pending.push_back(call_json(call));
  return pending;
}

// Moves the parent run, which is stored in the caller's metadata, to a member of its own.
void show_parent(json::Object& out, json::Object& metadata) {
  const json::Value* parent = metadata.if_contains(kParentRunKey);
  if (!parent) return;
  out["parentRunId"] = *parent;
  metadata.stable_erase(kParentRunKey);
}

// Removes the hashes, so that callers see what they sent and not how it is stored.
void hide_hashes(json::Object& spec) {
  json::Value* messages = spec.if_contains("messages");
  if (!messages) return;
  for (json::Value& message : messages->as_array()) {
    json::Value* files = message.as_object().if_contains("attachments");
    if (!files) continue;
    for (json::Value& file : files->as_array()) file.as_object().erase("sha256");
  }
}

}  // namespace

json::Object shown_spec(const Spec& spec) {
  json::Object out = to_json(spec);
  hide_hashes(out);
  if (json::Value* metadata = out.if_contains("metadata")) {
    metadata->as_object().stable_erase(kParentRunKey);
    if (metadata->as_object().empty()) out.stable_erase("metadata");
  }
  for (json::Value& tool : out["tools"].as_array()) {
    json::Value* headers = tool.as_object().if_contains("headers");
    if (!headers) continue;
    for (auto& header : headers->as_object()) header.value() = json::kRedacted;
  }
  return out;
}

json::Object row_json(const RunRow& row) {
  json::Object out{{"id", row.id.view()},
                   {"runId", row.id.view()},
                   {"name", row.name},
                   {"status", to_string(row.status)},
                   {"modelId", row.model_id},
                   {"createdAt", to_iso8601(row.created_at)},
                   {"updatedAt", to_iso8601(row.updated_at)},
                   {"lastSeq", row.last_seq}};
  if (!row.session.empty()) out["sessionId"] = row.session.view();
  auto labels = json::parse(row.metadata);
  const json::Object* members = labels ? labels->if_object() : nullptr;
  if (auto agent = json::text_at(members, kAgentLabel); !agent.empty()) out["agentId"] = agent;
  json::Object metadata = metadata_json(parse_metadata(members));
  show_parent(out, metadata);
  out["metadata"] = std::move(metadata);
  return out;
}

void add_about(json::Object& out, const engine::RunView& run) {
  const std::string* asked = asked_last(*run.state);
  out["about"] = asked ? utf8_prefix(*asked, kAboutBytesMax) : "";
  out["pendingCalls"] = pending_json(run);
}

json::Object snapshot_json(const engine::RunView& run) {
  json::Object out = row_json(run.row);
  add_end(out, *run.state);
  out["pendingCalls"] = pending_json(run);
  const CreatedEntry& created = run.state->created();
  out["spec"] = shown_spec(created.spec);
  if (created.forked_from) {
    out["forkedFrom"] = fork_json(*created.forked_from);
    // The prompt of the spec is the original run's; a fork shows its own instead.
    if (const std::string* own = own_prompt(*run.state)) {
      out["spec"].as_object()["prompt"] = *own;
    }
  }
  return out;
}

json::Array warnings_json(const Spec& spec) {
  json::Array out;
  for (const std::string& line : spec.warnings) out.emplace_back(line);
  for (const std::string& line : spec.tools->warnings) out.emplace_back(line);
  return out;
}

json::Object fork_json(const ForkedFrom& fork) {
  return {{"runId", fork.run.view()}, {"seq", fork.seq}};
}

json::Object call_json(const engine::PendingCall& call) {
  const Mailbox& box = call.box;
  json::Object out{{"id", box.slot},
                   {"toolUseId", box.slot},
                   {"runId", box.run.view()},
                   {"name", box.name},
                   {"status", call.claimed_until ? "claimed" : "pending"},
                   {"createdAt", to_iso8601(box.opened_at)},
                   {"expiresAt", to_iso8601(call.expires_at)}};
  for (auto& member : parse_mail_request(box.request)) {
    out[member.key()] = std::move(member.value());
  }
  if (call.claimed_until) out["claimedUntil"] = to_iso8601(*call.claimed_until);
  return out;
}

}  // namespace errand::server
