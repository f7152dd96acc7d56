#include "run/tool_decl.hpp"

#include <algorithm>

#include "json/fields.hpp"

namespace errand {

SchemaPtr share_schema(json::Object schema) {
  return std::make_shared<const json::Object>(std::move(schema));
}

bool is_valid_tool_name(std::string_view name) {
  constexpr std::size_t kCharsMax = 64;
  return !name.empty() && name.size() <= kCharsMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

json::Object to_json(const ToolDecl& tool) {
  const ToolAnnotations& notes = tool.annotations;
  return {{"name", tool.name},
          {"description", tool.description},
          {"inputSchema", *tool.input_schema},
          {"site", tool.site == ToolSite::client ? "client" : "host"},
          {"annotations",
           {{"readOnly", notes.read_only},
            {"idempotent", notes.idempotent},
            {"parallelSafe", notes.parallel_safe},
            {"longRunning", notes.long_running}}}};
}

Result<ToolDecl> parse_tool_decl(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ToolDecl tool;
  tool.name = in.text("name");
  tool.description = in.optional_text("description").value_or("");
  if (const json::Object* schema = in.optional_object("inputSchema")) {
    tool.input_schema = share_schema(*schema);
  }
  tool.site =
      in.optional_choice("site", {"client", "host"}) == 1 ? ToolSite::host : ToolSite::client;
  json::Fields notes(in.any("annotations"), in.pointer_to("annotations"));
  tool.annotations = {.read_only = notes.optional_flag("readOnly").value_or(false),
                      .idempotent = notes.optional_flag("idempotent").value_or(false),
                      .parallel_safe = notes.optional_flag("parallelSafe").value_or(true),
                      .long_running = notes.optional_flag("longRunning").value_or(false)};
  if (auto done = notes.finish(); !done) in.fail(std::move(done).error());
  return in.finish(std::move(tool));
}

}  // namespace errand
