#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/schema.hpp"
#include "json/value.hpp"

namespace errand {

// What a tool promises about its calls. The order of calls and recovery after a crash follow it.
struct ToolAnnotations {
  bool read_only = false;     // changes nothing: may be run again after a crash
  bool idempotent = false;    // running it again with the same key changes nothing more
  bool parallel_safe = true;  // else a barrier: waits for earlier calls, later ones wait for it
  bool long_running = false;
  bool destructive = false;      // what it changes cannot be had back
  bool retain = false;           // a session's later runs are told of its calls
  bool cancel_siblings = false;  // a failed call cancels the turn's calls that have no result yet
  // The process that runs the tool checks its arguments, or its results, by rules of its own: the
  // engine passes on any JSON object, or any result.
  bool checks_arguments = false;
  bool checks_results = false;
  // How long one call may take; absent leaves it to the run.
  std::optional<milliseconds> timeout = {};
  // Notes in the journal what it is about to do: a call that a restart has cut off goes on from its
  // note.
  bool resumable = false;

  friend bool operator==(const ToolAnnotations&, const ToolAnnotations&) = default;
};

enum class ToolSite {
  client,  // the caller's process answers: local_tool_call out, tool-result in
  host,    // a ToolSource of this process makes the call
  nowhere  // cannot run: each call is answered with the description, which says so
};

// A call that this process makes takes no longer, unless its tool says otherwise.
constexpr milliseconds kHostToolTimeout{120'000};
constexpr milliseconds kToolTimeoutMax{86'400'000};

// Shared, because many hold the same one and nobody changes it.
using ObjectPtr = std::shared_ptr<const json::Object>;
using SchemaPtr = ObjectPtr;  // a JSON Schema
SchemaPtr share_schema(json::Object schema);

// Where the calls of a tool go. Sources are named by what they are called, never by a connection.
struct ToolOrigin {
  std::size_t ref = 0;   // the index of the run's tool ref that it comes from
  std::string source;    // the id of its ToolSource
  std::string version;   // of the source, if it has versions
  std::string upstream;  // what the source calls the tool; empty: the same as the model does

  friend bool operator==(const ToolOrigin&, const ToolOrigin&) = default;
};

// A tool as the model and the dispatcher see it, wherever it lives.
struct ToolDecl {
  std::string name;
  std::string title = {};  // for people
  std::string description;
  SchemaPtr input_schema = share_schema({});
  SchemaPtr output_schema = nullptr;
  json::CompiledSchemaPtr checker = nullptr;  // the input schema compiled, if somebody has
  ToolSite site = ToolSite::client;
  ToolAnnotations annotations;
  std::string kind = "local";  // of the ref that it comes from
  ToolOrigin origin = {};      // of a tool that this process calls
  ObjectPtr echo = nullptr;    // what every call tells a client besides name and arguments
  // Guidance for the system prompt. Of the tools of a toolkit, the first also has the toolkit's.
  std::vector<std::string> rules = {};
};

// Whether each call of the tool is a run of its own: the tool is a stored agent.
bool is_agent_tool(const ToolDecl& tool);

constexpr std::size_t kToolNameCharsMax = 64;
bool is_valid_tool_name(std::string_view name);

json::Object to_json(const ToolDecl& tool);
Result<ToolDecl> parse_tool_decl(const json::Value& value, std::string_view pointer);

// What a journal pins of a tool that this process calls:
// {"name","kind","ref","source":{"id","version"?},"upstream"?,"decl"}. A run means the same after
// an upgrade, because what is pinned is never looked up again.
json::Object binding_json(const ToolDecl& tool);
Result<ToolDecl> parse_binding(const json::Value& value, std::string_view pointer);

}  // namespace errand
