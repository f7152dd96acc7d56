// What a tool ref offers to the model.
#include <algorithm>

#include "base/text.hpp"
#include "json/members.hpp"
#include "run/tools/object_schema.hpp"
#include "run/tools/tool_ref.hpp"
#include "run/tools/tool_stub.hpp"

namespace errand {
namespace {

// Added to the description of every long-running tool. The wording is the protocol's.
constexpr std::string_view kLongRunningNote =
    "NOTE: This is a long-running operation. Do not call this tool again if it has already "
    "returned an intermediate or pending status.";

std::string card_description(const LocalAgent& agent) {
  const json::Object& card = *agent.card;
  std::string_view name = json::text_at(&card, "name");
  std::string told = cat("Delegate a task to ", name.empty() ? agent.name : name);
  if (std::string_view about = json::text_at(&card, "description"); !about.empty()) {
    append(told, ": ", about);
  }
  const json::Array* skills = json::array_at(&card, "skills");
  if (!skills) return told;
  for (std::size_t i = 0; i < std::min(skills->size(), kToldSkillsMax); ++i) {
    const json::Object* skill = (*skills)[i].if_object();
    if (!skill) continue;
    std::string_view title = json::text_at(skill, "name");
    if (title.empty()) title = json::text_at(skill, "id");
    append(told, "\n- ", title);
    std::string_view about = json::text_at(skill, "description");
    if (!about.empty()) append(told, title.empty() ? "" : ": ", about);
  }
  return told;
}

json::Object text_schema(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

// The protocol has only `message`. The two ids are for clients that say that they continue tasks:
// others would ignore the ids, and the agent would take an answer for a new task.
SchemaPtr message_schema(const LocalAgent& agent) {
  json::Object properties{
      {"message", text_schema("The whole task, as one message in plain text.")}};
  if (agent.continues_tasks) {
    properties["taskId"] = text_schema("To answer a task that needs input: its id.");
    properties["contextId"] = text_schema("To go on with an earlier conversation: its context id.");
  }
  return share_schema({{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", {"message"}},
                       {"additionalProperties", false}});
}

OfferedTool mcp_tool(const LocalMcpServer& server, std::size_t index) {
  const ObjectPtr& keeper = server.tools[index];
  const json::Object& tool = *keeper;
  json::Object echo{{"mcpServer", server.name}, {"mcpToolName", json::text_at(&tool, "name")}};
  if (server.info) echo["mcpServerInfo"] = *server.info;
  if (const json::Object* notes = json::object_at(&tool, "annotations"))
    echo["annotations"] = *notes;
  return {.decl = {.name = std::string(json::text_at(&tool, "name")),
                   .description = std::string(json::text_at(&tool, "description")),
                   .input_schema = arguments_schema(json::object_at(&tool, "inputSchema"), keeper),
                   .kind = "mcp_local",
                   .echo = share_schema(std::move(echo))},
          .name_pointer = cat("/tools/", index, "/name"),
          .schema_pointer = cat("/tools/", index, "/inputSchema")};
}

// Replaces tools that cannot run here, so that the model can tell the user instead of silently
// going without them.
std::vector<OfferedTool> stub(std::string_view name, std::string_view what,
                              std::string_view name_pointer, std::string_view why) {
  constexpr std::string_view kSuffix = "_unavailable";
  std::string stub_name(name.substr(0, kToolNameCharsMax - kSuffix.size()));
  for (char& c : stub_name) {
    if (!is_valid_tool_name({&c, 1})) c = '_';
  }
  ToolDecl decl{.name = stub_name + std::string(kSuffix),
                .description =
                    cat(what, " \"", utf8_prefix(name, 200), "\" is unavailable in this run: ", why,
                        ". Go on without it, and tell the user if it was needed."),
                .input_schema = share_schema({{"type", "object"}, {"properties", json::Object()}}),
                .site = ToolSite::nowhere};
  return {{.decl = std::move(decl), .name_pointer = std::string(name_pointer)}};
}

struct Offer {
  std::string_view why = "this server cannot reach it";  // shown in the stubs

  std::vector<OfferedTool> operator()(const LocalTool& tool) const {
    ToolDecl decl{.name = tool.name,
                  .description = tool.description,
                  .input_schema = tool.parameters,
                  .output_schema = tool.output_schema,
                  .annotations = tool.annotations};
    if (tool.annotations.long_running) {
      append(decl.description, decl.description.empty() ? "" : "\n\n", kLongRunningNote);
    }
    return {{.decl = std::move(decl), .name_pointer = "/name", .schema_pointer = "/parameters"}};
  }

  std::vector<OfferedTool> operator()(const LocalAgent& agent) const {
    ToolDecl decl{.name = agent.name,
                  .description = agent.description ? *agent.description : card_description(agent),
                  .input_schema = message_schema(agent),
                  .kind = "a2a_local",
                  .echo = share_schema({{"agentCard", *agent.card}})};
    return {{.decl = std::move(decl), .name_pointer = "/name"}};
  }

  std::vector<OfferedTool> operator()(const LocalMcpServer& server) const {
    std::vector<OfferedTool> tools;
    for (std::size_t i = 0; i < server.tools.size(); ++i) tools.push_back(mcp_tool(server, i));
    return tools;
  }

  std::vector<OfferedTool> operator()(const McpServer& server) const {
    return stub(server.name, "The MCP server", "/name", why);
  }
  std::vector<OfferedTool> operator()(const RemoteAgent& agent) const {
    return stub(agent.name, "The agent", "/name", why);
  }
  std::vector<OfferedTool> operator()(const WorkspaceTool& tool) const {
    return stub(tool.id, "The workspace's tool", "/id", why);
  }
  std::vector<OfferedTool> operator()(const PluginTool& tool) const {
    return stub(tool.name, "The plugin's tool", "/name", why);
  }
  std::vector<OfferedTool> operator()(const HostTool&) const { return {}; }
  std::vector<OfferedTool> operator()(const StoredAgent& agent) const {
    if (agent.name.empty()) return stub(agent.agent_id, "The agent", "/agentId", why);
    return stub(agent.name, "The agent", "/name", why);
  }
  std::vector<OfferedTool> operator()(const RoomRef& room) const {
    return stub(room.name.empty() ? "room" : room.name, "The room", "/name", why);
  }
};

}  // namespace

std::vector<OfferedTool> offered_tools(const ToolRef& ref) {
  return std::visit(Offer(), ref);
}

std::vector<ToolDecl> stubs_of(const ToolRef& ref, std::string_view why) {
  std::vector<ToolDecl> stubs;
  for (OfferedTool& tool : std::visit(Offer{why}, ref)) {
    if (tool.decl.site == ToolSite::nowhere) stubs.push_back(std::move(tool.decl));
  }
  return stubs;
}

}  // namespace errand
