#include "run/tool_decl.hpp"

#include <algorithm>
#include <array>

#include "json/fields.hpp"

namespace errand {
namespace {

// In the order of ToolSite.
constexpr std::array<std::string_view, 3> kSites = {"client", "host", "nowhere"};

}  // namespace

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
  json::Object out{{"name", tool.name},
                   {"description", tool.description},
                   {"inputSchema", *tool.input_schema},
                   {"site", kSites[static_cast<std::size_t>(tool.site)]},
                   {"annotations",
                    {{"readOnly", notes.read_only},
                     {"idempotent", notes.idempotent},
                     {"parallelSafe", notes.parallel_safe},
                     {"longRunning", notes.long_running}}}};
  if (tool.output_schema) out["outputSchema"] = *tool.output_schema;
  return out;
}

Result<ToolDecl> parse_tool_decl(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ToolDecl tool;
  tool.name = in.text("name");
  tool.description = in.optional_text("description").value_or("");
  if (const json::Object* schema = in.optional_object("inputSchema")) {
    tool.input_schema = share_schema(*schema);
  }
  if (const json::Object* schema = in.optional_object("outputSchema")) {
    tool.output_schema = share_schema(*schema);
  }
  auto site = in.optional_choice("site", {kSites[0], kSites[1], kSites[2]});
  tool.site = static_cast<ToolSite>(site.value_or(0));
  json::Fields notes(in.any("annotations"), in.pointer_to("annotations"));
  tool.annotations = {.read_only = notes.optional_flag("readOnly").value_or(false),
                      .idempotent = notes.optional_flag("idempotent").value_or(false),
                      .parallel_safe = notes.optional_flag("parallelSafe").value_or(true),
                      .long_running = notes.optional_flag("longRunning").value_or(false)};
  if (auto done = notes.finish(); !done) in.fail(std::move(done).error());
  return in.finish(std::move(tool));
}

}  // namespace errand
