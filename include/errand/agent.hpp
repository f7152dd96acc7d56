#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <errand/json.hpp>
#include <errand/run.hpp>

namespace errand::ERRAND_V1 {

// What an agent is stored with: what runs that name it (RunOptions::agent) have unless they say
// otherwise. Its system prompt counts even then.
struct AgentSpec {
  // Unique in its workspace: letters, digits, dots, underscores and dashes, at most 64.
  std::string name = {};
  std::string description = {};  // for people, and for agents that call this one
  std::string system_prompt = {};
  std::string model = {};  // empty: the default model
  // Tools that the server calls, as the protocol has them: {"kind": "mcp", "name": ..., "url":
  // ...}.
  std::vector<Json> server_tools = {};
  std::optional<ReasoningLevel> reasoning_level = {};
  std::optional<LoopDetection> loop_detection = {};
  std::optional<std::map<std::string, int>> tool_budgets = {};  // calls that each tool may have
  std::optional<OutputSchema> output = {};
  std::map<std::string, std::string> metadata = {};
  std::optional<int> max_tool_turns = {};
  // Other members, as the protocol has them: {"fallbackModelId": "fast"}. They take the place of
  // those above.
  JsonObject more = {};
};

// One version of a stored agent.
struct Agent {
  std::string id = {};  // never changes
  std::string name = {};
  std::int64_t version = 0;  // 1, 2, 3 ...
  std::string description = {};
  std::string system_prompt = {};
  std::string model = {};       // empty: the default model
  std::string created_at = {};  // ISO 8601
  std::string updated_at = {};  // when this version was stored
  // All of it, as the protocol has it. Values of headers are redacted.
  JsonObject members = {};
};

struct AgentPage {
  std::vector<Agent> agents = {};  // the oldest first
  std::string next_cursor = {};    // empty: there are no more
};

struct AgentQuery {
  std::size_t limit = 50;
  std::string cursor = {};  // AgentPage::next_cursor of the page before
};

}  // namespace errand::ERRAND_V1
