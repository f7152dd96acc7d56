#include "engine/records/agent_as_tool.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::engine {
namespace {

json::Object message_schema() {
  return {{"type", "object"},
          {"properties",
           {{"message",
             {{"type", "string"},
              {"minLength", 1},
              {"description", "The task for the agent, complete in itself."}}}}},
          {"required", json::Array{"message"}},
          {"additionalProperties", false}};
}

}  // namespace

ToolDecl agent_as_tool(const NamedRecord& agent, const json::Object* body) {
  std::string description = cat("Delegates a task to the agent \"", agent.name, "\".");
  std::string_view about = json::text_at(body, "description");
  if (!about.empty()) append(description, " ", about);
  ToolDecl decl;
  decl.title = agent.name;
  decl.description = std::move(description);
  decl.input_schema = share_schema(message_schema());
  return decl;
}

}  // namespace errand::engine
