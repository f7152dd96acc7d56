#include "server/openapi/schemas.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "engine/records/agents.hpp"
#include "engine/records/secret_vault.hpp"
#include "json/parse.hpp"
#include "run/guard_limits.hpp"
#include "run/log/mail.hpp"
#include "run/spec.hpp"
#include "server/openapi/request_limits.hpp"
#include "tool/http/http_tool_def.hpp"

namespace errand::server {
namespace {

struct Bound {
  std::string_view name;
  std::int64_t value;
};

constexpr Bound bound(std::string_view name, std::size_t value) {
  return {name, static_cast<std::int64_t>(value)};
}

// Bounds that the code checks, by the names that the schemas use for them.
constexpr auto kBounds = std::to_array<Bound>({
    bound("claimMillisMax", kClaimMillisMax),
    bound("contentChars", kFeedbackContentCharsMax),
    bound("explanationChars", kFeedbackExplanationCharsMax),
    bound("fileUrlBytes", kFileUrlBytesMax),
    bound("files", kFilesMax),
    bound("agentDescriptionChars", engine::kAgentDescriptionCharsMax),
    bound("agentNameChars", kAgentNameCharsMax),
    bound("httpToolMillis", static_cast<std::size_t>(kHttpToolTimeoutMax.count())),
    bound("httpToolPairs", kHttpToolPairsMax),
    bound("keyAgents", kKeyAgentsMax),
    bound("keyMillis", kKeyMillisMax),
    bound("keyNameChars", kKeyNameCharsMax),
    bound("keyScopes", kKeyScopesMax),
    bound("loopThreshold", kLoopThresholdMax),
    bound("mcpLocalTools", kMcpLocalToolsMax),
    bound("messageChars", kMessageCharsMax),
    bound("messages", kMessagesMax),
    bound("metadataEntries", kMetadataEntriesMax),
    bound("metadataValueChars", kMetadataValueCharsMax),
    bound("nameChars", kNameCharsMax),
    bound("reasoningLevel", kReasoningLevelMax),
    bound("requiredToolkits", kRequiredToolkitsMax),
    bound("requiredTools", kRequiredToolsMax),
    bound("roomTokenBytes", kRoomTokenBytesMax),
    bound("secretBytes", engine::SecretVault::kValueBytesMax),
    bound("toolBudget", kToolBudgetMax),
    bound("toolBudgets", kToolBudgetsMax),
    bound("toolDescriptionChars", kHttpToolDescriptionCharsMax),
    bound("toolFilter", kToolFilterMax),
    bound("toolkitNameBytes", kToolkitNameBytesMax),
    bound("toolkitWaitMillis", static_cast<std::size_t>(kToolkitWaitMax.count())),
    bound("tools", kToolsMax),
});

std::int64_t bound_of(std::string_view name) {
  const auto* found = std::find_if(kBounds.begin(), kBounds.end(),
                                   [&](const Bound& one) { return one.name == name; });
  ERRAND_ASSERT(found != kBounds.end());
  return found->value;
}

// Joins the lines of a description.
json::Value joined(const json::Value& lines) {
  std::string out;
  for (const json::Value& line : lines.as_array()) {
    append(out, out.empty() ? "" : " ", json::view(line.as_string()));
  }
  return json::Value(out);
}

// Replaces the names of constants by their values, and joins the lines of descriptions.
void fill_in(json::Value& value) {
  if (auto* text = value.if_string()) {
    std::string_view view = json::view(*text);
    if (view.starts_with('=')) value = bound_of(view.substr(1));
  } else if (json::Array* items = value.if_array()) {
    for (json::Value& item : *items) fill_in(item);
  } else if (json::Object* members = value.if_object()) {
    for (auto& member : *members) {
      bool is_lines = member.key() == "description" && member.value().is_array();
      if (is_lines) member.value() = joined(member.value());
      fill_in(member.value());
    }
  }
}

void add(json::Object& out, std::string_view chapter) {
  auto parsed = json::parse(chapter);
  ERRAND_ASSERT(parsed && parsed->is_object());
  for (auto& member : parsed->get_object()) {
    ERRAND_ASSERT(!out.if_contains(member.key()));
    fill_in(member.value());
    out[member.key()] = std::move(member.value());
  }
}

}  // namespace

json::Object component_schemas() {
  json::Object out;
  add(out, run_schemas());
  add(out, call_schemas());
  add(out, event_schemas());
  add(out, session_schemas());
  add(out, record_schemas());
  add(out, room_schemas());
  add(out, oauth_schemas());
  add(out, protocol_schemas());
  add(out, server_schemas());
  return out;
}

}  // namespace errand::server
