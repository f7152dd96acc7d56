#include "cli/commands/known_values.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr seconds kAskMax{2};  // a user who has pressed Tab waits no longer
constexpr std::size_t kKnownValueChars = 200;

// Where to find the values of a kind.
struct KnownKind {
  std::string_view name;
  std::string_view path;
  std::string_view list;    // in the answer
  std::string_view member;  // in an item
};

constexpr std::array<KnownKind, 7> kKnownKinds = {
    {{"AGENT", "/agents", "agents", "name"},
     {"CALL", "/tool-calls", "toolCalls", "toolUseId"},
     {"MODEL", "/models", "models", "id"},
     {"ROOM", "/rooms", "rooms", "name"},
     {"RUN", "/agent-runs", "runs", "runId"},
     {"SESSION", "/agent-sessions", "sessions", "sessionId"},
     {"TOOL", "/tools", "tools", "name"}}};

int print_values_of(sdk::ApiClient& api, const KnownKind& kind) {
  auto answer = api.ask({.path = std::string(kind.path),
                         .query = {{"limit", std::to_string(kKnownValuesMax)}},
                         .timeout = kAskMax});
  if (!answer) return fail(answer.error());
  std::string out;
  for (const json::Value& item : items_of(*answer, kind.list)) {
    append(out, clean_line(text_of(item, kind.member), kKnownValueChars), "\n");
  }
  return print(out);
}

}  // namespace

std::span<const std::string_view> value_kinds() {
  static const auto names = [] {
    std::array<std::string_view, kKnownKinds.size()> out;
    std::transform(kKnownKinds.begin(), kKnownKinds.end(), out.begin(),
                   [](const KnownKind& kind) { return kind.name; });
    return out;
  }();
  return names;
}

int print_known_values(const sdk::ServerFlags& server, std::string_view kind) {
  const auto* known = std::find_if(kKnownKinds.begin(), kKnownKinds.end(),
                                   [&](const KnownKind& one) { return one.name == kind; });
  ERRAND_ASSERT(known != kKnownKinds.end());
  // Models can be listed without any stored data.
  bool needs_data = kind != "MODEL";
  sdk::DataPlace place{
      .server = server,
      .without = needs_data ? sdk::WithoutData::is_refused : sdk::WithoutData::uses_memory};
  return with_data(place, [&](sdk::ApiClient& api) { return print_values_of(api, *known); });
}

}  // namespace errand::cli
