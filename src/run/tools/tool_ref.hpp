#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/tools/origin.hpp"
#include "run/tools/room_ref.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {

// A tool that the caller's process runs.
struct LocalTool {
  std::string name;
  std::string description;
  SchemaPtr parameters = share_schema({});
  SchemaPtr output_schema = nullptr;  // of what it answers, if that is told
  ToolAnnotations annotations = {};
};

// An agent that only the caller's process can reach. Its card is kept as it was sent, and goes
// along with every call.
struct LocalAgent {
  std::string name;
  std::optional<std::string> description;  // instead of the one made from the card
  ObjectPtr card;
  // The client takes `taskId` and `contextId` beside `message`, which the protocol does not have.
  bool continues_tasks = false;
};

// An MCP server that only the caller's process can reach, with its catalog as it was sent.
struct LocalMcpServer {
  std::string name;
  ObjectPtr info = nullptr;
  std::vector<ObjectPtr> tools;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

// An MCP server that this process reaches. A URL "config:NAME" stands for the server that the
// configuration has under this name.
inline constexpr std::string_view kConfiguredServer = "config:";
struct McpServer {
  std::string name;
  std::string url;
  Headers headers;
  std::optional<std::vector<std::string>> tool_filter;
  std::optional<milliseconds> timeout = {};  // of one call, from its beginning to its end

  // Whether `url` names a server of the configuration, instead of an address.
  bool is_configured() const { return url.starts_with(kConfiguredServer); }
};

// An agent that this process reaches.
struct RemoteAgent {
  std::string name;
  std::optional<std::string> description;
  std::string card_url;
  Headers headers;
  std::optional<std::string> context_id;
};

// A tool of the workspace, by its id.
struct WorkspaceTool {
  std::string id;
};

// A tool of the platform, by its name: "@plugin/tool" or a bare word.
struct PluginTool {
  std::string name;
};

// A tool of this process, by the name it is registered under. Never from the wire.
struct HostTool {
  std::string name;
};

// A stored agent of the workspace, by its id or name. Each call is a run of its own.
struct StoredAgent {
  std::string agent_id;
  std::string name = {};                        // of the tool; empty: made from the agent's
  std::optional<std::string> description = {};  // instead of the agent's own
};

// A room that the run joins, from the spec's "room" and "requiredToolkits". Never from the wire.
struct RoomRef {
  std::string name = {};  // of a room of the workspace; empty: the URL counts
  std::string url = {};
  Headers headers = {};                        // the token, as "authorization"
  std::string participant = {};                // what the run is called there
  std::vector<RequiredToolkit> required = {};  // none: the run has what is there
};

using ToolRef = std::variant<LocalTool, LocalAgent, LocalMcpServer, McpServer, RemoteAgent,
                             WorkspaceTool, PluginTool, HostTool, StoredAgent, RoomRef>;

// Whether a run cannot go without the tools of the ref.
bool is_required(const ToolRef& ref);

// The word for it in "kind".
std::string_view kind_of(const ToolRef& ref);

// Limits of one ref; past them: invalid_argument with the pointer and the limit.
constexpr std::size_t kMcpLocalToolsMax = 64;
constexpr std::size_t kHeaderValueBytesMax = 8 * 1024;
constexpr std::size_t kHeadersMax = 64;
constexpr std::size_t kToolFilterMax = 256;
constexpr std::size_t kRefTextBytesMax = 2048;  // of a URL, an id, a contextId
// Of what goes along with every call, so that clients can read the line of the event.
constexpr std::size_t kEchoBytesMax = 256 * 1024;
// Of a card, the first so many skills are told to the model.
constexpr std::size_t kToldSkillsMax = 12;

// One of "tools". Given whoever keeps the value, the ref shares parts of it instead of copying
// them. invalid_argument: with the pointer.
using ValuePtr = std::shared_ptr<const json::Value>;
Result<ToolRef> parse_tool_ref(const json::Value& value, std::string_view pointer, Origin origin,
                               const ValuePtr& keeper = nullptr);
json::Object to_json(const ToolRef& ref);

// A tool that a ref offers to the model, and where in the ref it says so.
struct OfferedTool {
  ToolDecl decl;
  std::string name_pointer;    // "/name", "/tools/3/name"
  std::string schema_pointer;  // "/parameters", "/tools/3/inputSchema"
};

// What the ref offers, as far as it follows from the ref alone: nothing for a tool of this process,
// and a stub that says so for what cannot run here.
std::vector<OfferedTool> offered_tools(const ToolRef& ref);

}  // namespace errand
