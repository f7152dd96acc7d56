#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

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

  friend bool operator==(const ToolAnnotations&, const ToolAnnotations&) = default;
};

enum class ToolSite {
  client,  // the caller's process answers: local_tool_call out, tool-result in
  host,    // this process runs it
  nowhere  // cannot run: each call is answered with the description, which says so
};

// Shared, because many hold the same one and nobody changes it.
using ObjectPtr = std::shared_ptr<const json::Object>;
using SchemaPtr = ObjectPtr;  // a JSON Schema
SchemaPtr share_schema(json::Object schema);

// A tool as the model and the dispatcher see it, wherever it lives.
struct ToolDecl {
  std::string name;
  std::string description;
  SchemaPtr input_schema = share_schema({});
  SchemaPtr output_schema = nullptr;
  json::CompiledSchemaPtr checker = nullptr;  // the input schema compiled, if somebody has
  ToolSite site = ToolSite::client;
  ToolAnnotations annotations;
  // For tools of a client: what every call tells it besides name and arguments.
  std::string kind = "local";
  ObjectPtr echo = nullptr;
};

bool is_valid_tool_name(std::string_view name);

json::Object to_json(const ToolDecl& tool);
Result<ToolDecl> parse_tool_decl(const json::Value& value, std::string_view pointer);

}  // namespace errand
