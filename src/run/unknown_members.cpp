#include "run/unknown_members.hpp"

#include <algorithm>
#include <array>

#include "base/close_names.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "run/tools/tool_kinds.hpp"

namespace errand {
namespace {

constexpr std::size_t kShownKeyBytesMax = 80;

constexpr auto kRunMembers = std::to_array<std::string_view>(
    {"agentId",        "attachments",      "budgets",     "fallbackModelId",
     "loopDetection",  "messages",         "metadata",    "modelId",
     "name",           "outputSchema",     "plan",        "prompt",
     "reasoningLevel", "requiredToolkits", "retainTools", "room",
     "supervisor",     "systemPrompt",     "toolBudgets", "tools"});
constexpr auto kForkMembers = std::to_array<std::string_view>(
    {"budgets", "fallbackModelId", "fromSeq", "loopDetection", "metadata", "modelId", "name",
     "outputSchema", "prompt", "reasoningLevel", "systemPrompt", "toolBudgets", "tools"});
constexpr auto kBudgetMembers = std::to_array<std::string_view>(
    {"localToolTimeoutMs", "onLocalToolTimeout", "maxToolTurns", "maxToolTurnsExceeded"});

constexpr auto kLocalMembers = std::to_array<std::string_view>(
    {"kind", "name", "description", "parameters", "outputSchema", "readOnly", "idempotent",
     "parallelSafe", "longRunning", "timeoutMs", "retain", "cancelSiblings", "checksArguments",
     "checksResults"});
constexpr auto kLocalAgentMembers =
    std::to_array<std::string_view>({"kind", "name", "description", "agentCard", "continuesTasks"});
constexpr auto kLocalMcpMembers =
    std::to_array<std::string_view>({"kind", "name", "serverInfo", "tools"});
constexpr auto kMcpMembers =
    std::to_array<std::string_view>({"kind", "name", "url", "headers", "toolFilter", "timeoutMs"});
constexpr auto kRemoteAgentMembers = std::to_array<std::string_view>(
    {"kind", "name", "description", "agentCardUrl", "headers", "contextId"});
constexpr auto kStoredAgentMembers =
    std::to_array<std::string_view>({"kind", "agentId", "name", "description"});
constexpr auto kByIdMembers = std::to_array<std::string_view>({"kind", "id"});
constexpr auto kByNameMembers = std::to_array<std::string_view>({"kind", "name"});

struct KindMembers {
  std::string_view kind;
  KnownMembers members;
};
constexpr auto kKinds = std::to_array<KindMembers>({{"local", kLocalMembers},
                                                    {"a2a_local", kLocalAgentMembers},
                                                    {"mcp_local", kLocalMcpMembers},
                                                    {"mcp", kMcpMembers},
                                                    {"a2a", kRemoteAgentMembers},
                                                    {"agent", kStoredAgentMembers},
                                                    {"mantyx", kByIdMembers},
                                                    {"mantyx_plugin", kByNameMembers}});
static_assert(kKinds.size() == kToolKinds.size());

// "; did you mean prompt?" if a known name is close.
std::string proposal(std::string_view key, KnownMembers known) {
  std::string meant = did_you_mean(key, std::vector<std::string_view>(known.begin(), known.end()));
  return meant.empty() ? meant : cat("; ", meant);
}

}  // namespace

bool is_known(std::string_view key, KnownMembers known) {
  return std::find(known.begin(), known.end(), key) != known.end();
}

void add_unknown_members(std::vector<std::string>& lines, const json::Value& value,
                         std::string_view pointer, KnownMembers known) {
  const json::Object* object = value.if_object();
  if (!object) return;
  for (const auto& member : *object) {
    std::string_view key(member.key().data(), member.key().size());
    if (is_known(key, known)) continue;
    if (lines.size() >= kUnknownToldMax) return;
    std::string place = json::child_pointer(pointer, utf8_prefix(key, kShownKeyBytesMax));
    lines.push_back(cat(place, ": unknown member", proposal(key, known)));
  }
}

Result<void> refuse_unknown_members(const json::Value& value, KnownMembers known) {
  json::Fields in(value, "");
  refuse_unknown_members(in, value, known);
  return value.is_object() ? in.finish() : Result<void>();
}

void refuse_unknown_members(json::Fields& in, const json::Value& value, KnownMembers known) {
  const json::Object* object = value.if_object();
  if (!object) return;
  for (const auto& member : *object) {
    std::string_view key(member.key().data(), member.key().size());
    if (is_known(key, known)) continue;
    std::string_view shown = utf8_prefix(key, kShownKeyBytesMax);
    return in.fail(shown, cat("unknown member \"", shown, "\"", proposal(key, known)));
  }
}

void add_unknown_of_tool(std::vector<std::string>& lines, const json::Value& ref,
                         std::string_view pointer) {
  std::string_view kind = json::text_at(ref.if_object(), "kind");
  KnownMembers known = tool_members(kind);
  if (!known.empty()) add_unknown_members(lines, ref, pointer, known);
}

KnownMembers run_members() {
  return kRunMembers;
}

KnownMembers fork_members() {
  return kForkMembers;
}

KnownMembers budget_members() {
  return kBudgetMembers;
}

KnownMembers tool_members(std::string_view kind) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [kind](const KindMembers& one) { return one.kind == kind; });
  return found == kKinds.end() ? KnownMembers() : found->members;
}

}  // namespace errand
