#include "sdk/run_event.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"

namespace errand::sdk {

std::string_view RunEvent::text(std::string_view key) const {
  const json::Value* found = fields.if_contains(key);
  if (!found || !found->is_string()) return {};
  return json::view(found->get_string());
}

Result<RunEvent> parse_run_event(const net::SseEvent& event) {
  auto value = json::parse(event.data, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!value || !value->is_object()) {
    return Error(ErrorCode::internal, "the server sent an event that is not a JSON object");
  }
  RunEvent out{.type = event.type, .fields = std::move(value->get_object())};
  const json::Value* seq = out.fields.if_contains("seq");
  if (!seq || !seq->is_int64() || seq->get_int64() < 1) {
    return Error(ErrorCode::internal, "the server sent an event without a number");
  }
  out.seq = seq->get_int64();
  if (auto copy = out.fields.find("data"); copy != out.fields.end()) out.fields.stable_erase(copy);
  return out;
}

bool is_tool_call(const RunEvent& event) {
  return event.type == "local_tool_call" || event.type == "tool_call";
}

bool is_tool_result(const RunEvent& event) {
  return event.type == "local_tool_result_in" || event.type == "tool_result";
}

const json::Value* arguments_of_call(const RunEvent& event) {
  return event.fields.if_contains(event.type == "local_tool_call" ? "args" : "input");
}

bool has_call_failed(const RunEvent& event) {
  const json::Value* ok = event.fields.if_contains("ok");
  return event.fields.contains("error") || (ok && ok->is_bool() && !ok->get_bool());
}

std::string_view text_of_result(const RunEvent& event) {
  std::string_view why = event.text("error");
  return why.empty() ? event.text("result") : why;
}

namespace {

RunEnd with_totals(RunEnd end, const RunEvent& event) {
  constexpr std::int64_t kTurnsMax = INT32_MAX;
  json::Value all(event.fields);
  json::Fields in(all, "");
  end.turns = in.optional_integer("turns", 0, kTurnsMax).value_or(0);
  if (const json::Value* tokens = event.fields.if_contains("tokens")) {
    end.usage = parse_usage(*tokens);
  }
  if (const json::Value* model = event.fields.if_contains("model")) {
    end.model = parse_model_info(*model).id;
  }
  return end;
}

}  // namespace

std::optional<RunEnd> end_of(const RunEvent& event) {
  using Kind = RunEnd::Kind;
  if (event.type == "cancelled") {
    return with_totals({.kind = Kind::cancelled, .message = "the run was cancelled"}, event);
  }
  if (event.type != "result" && event.type != "error") return {};
  if (event.type == "result" && event.text("subtype") == "success") return with_totals({}, event);
  std::string_view what = event.text("error");
  std::string_view kind = event.type == "result" ? event.text("subtype") : event.text("errorClass");
  std::string message = cat("the run failed: ", what.empty() ? "no reason was given" : what);
  if (!kind.empty()) append(message, " (", kind, ")");
  return with_totals({.kind = Kind::failed, .message = std::move(message)}, event);
}

}  // namespace errand::sdk
