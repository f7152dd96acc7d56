#include "cli/run_event.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::cli {

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

std::optional<RunEnd> end_of(const RunEvent& event) {
  using Kind = RunEnd::Kind;
  if (event.type == "cancelled")
    return RunEnd{.kind = Kind::cancelled, .message = "the run was cancelled"};
  if (event.type != "result" && event.type != "error") return {};
  if (event.type == "result" && event.text("subtype") == "success") return RunEnd{};
  std::string_view what = event.text("error");
  std::string_view kind = event.type == "result" ? event.text("subtype") : event.text("errorClass");
  std::string message = cat("the run failed: ", what.empty() ? "no reason was given" : what);
  if (!kind.empty()) append(message, " (", kind, ")");
  return RunEnd{.kind = Kind::failed, .message = std::move(message)};
}

}  // namespace errand::cli
