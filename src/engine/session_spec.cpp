#include "engine/session_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"

namespace errand::engine {
namespace {

// In the order of WhenBusy.
constexpr std::array<std::string_view, 3> kWords = {"queue", "reject", "interrupt"};

}  // namespace

std::string_view to_string(WhenBusy when_busy) {
  return kWords[static_cast<std::size_t>(when_busy)];
}

std::optional<WhenBusy> parse_when_busy(std::string_view word) {
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<WhenBusy>(i);
  }
  return {};
}

std::string to_cursor(const SessionPlace& place) {
  return cat(to_millis(place.last_used_at), ".", place.session.view());
}

std::optional<SessionPlace> parse_cursor(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  auto millis = parse_integer<std::int64_t>(text.substr(0, dot));
  auto session = SessionId::parse(text.substr(std::min(dot + 1, text.size())));
  if (!millis || !session) return {};
  return SessionPlace{.last_used_at = from_millis(*millis), .session = *session};
}

json::Object to_json(const SessionParams& params) {
  json::Object out{{"spec", errand::to_json(params.spec)},
                   {"whenBusy", to_string(params.when_busy)}};
  if (params.from_agent.tools > 0) out["agentTools"] = params.from_agent.tools;
  if (params.from_agent.has_prompt) out["agentPrompt"] = true;
  return out;
}

Result<SessionParams> parse_session_params(std::string_view text) {
  auto value = json::parse(text);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  json::Fields in(*value, "");
  auto spec = parse_journaled_spec(in.any("spec"));
  auto when_busy = parse_when_busy(in.text("whenBusy"));
  if (!spec) return Error(ErrorCode::internal, spec.error().describe());
  const auto tools_max = static_cast<std::int64_t>(spec->tools->refs.size());
  const std::int64_t tools = in.optional_integer("agentTools", 0, tools_max).value_or(0);
  const bool has_prompt = in.optional_flag("agentPrompt").value_or(false);
  auto done = in.finish();
  if (!done || !when_busy) return Error(ErrorCode::internal, "the spec of a session is damaged");
  return SessionParams{
      .spec = std::move(*spec),
      .when_busy = *when_busy,
      .from_agent = {.tools = static_cast<std::size_t>(tools), .has_prompt = has_prompt}};
}

}  // namespace errand::engine
