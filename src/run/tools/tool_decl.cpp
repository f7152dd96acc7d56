#include "run/tools/tool_decl.hpp"

#include <algorithm>
#include <array>

#include "json/fields.hpp"

namespace errand {
namespace {

// In the order of ToolSite.
constexpr std::array<std::string_view, 3> kSites = {"client", "host", "nowhere"};

json::Object to_json(const ToolAnnotations& notes) {
  json::Object out{{"readOnly", notes.read_only},
                   {"idempotent", notes.idempotent},
                   {"parallelSafe", notes.parallel_safe},
                   {"longRunning", notes.long_running}};
  if (notes.destructive) out["destructive"] = true;
  if (notes.retain) out["retain"] = true;
  if (notes.cancel_siblings) out["cancelSiblings"] = true;
  if (notes.checks_arguments) out["checksArguments"] = true;
  if (notes.checks_results) out["checksResults"] = true;
  if (notes.timeout) out["timeoutMs"] = notes.timeout->count();
  if (notes.resumable) out["resumable"] = true;
  return out;
}

Result<ToolAnnotations> parse_annotations(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ToolAnnotations notes{.read_only = in.optional_flag("readOnly").value_or(false),
                        .idempotent = in.optional_flag("idempotent").value_or(false),
                        .parallel_safe = in.optional_flag("parallelSafe").value_or(true),
                        .long_running = in.optional_flag("longRunning").value_or(false),
                        .destructive = in.optional_flag("destructive").value_or(false),
                        .retain = in.optional_flag("retain").value_or(false),
                        .cancel_siblings = in.optional_flag("cancelSiblings").value_or(false),
                        .checks_arguments = in.optional_flag("checksArguments").value_or(false),
                        .checks_results = in.optional_flag("checksResults").value_or(false)};
  if (auto millis = in.optional_integer("timeoutMs", 1, INT64_MAX)) {
    notes.timeout = milliseconds(*millis);
  }
  notes.resumable = in.optional_flag("resumable").value_or(false);
  return in.finish(notes);
}

}  // namespace

SchemaPtr share_schema(json::Object schema) {
  return std::make_shared<const json::Object>(std::move(schema));
}

bool is_agent_tool(const ToolDecl& tool) {
  return tool.site == ToolSite::host && tool.kind == "agent";
}

bool is_valid_tool_name(std::string_view name) {
  return !name.empty() && name.size() <= kToolNameCharsMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

json::Object to_json(const ToolDecl& tool) {
  json::Object out{{"name", tool.name},
                   {"description", tool.description},
                   {"inputSchema", *tool.input_schema},
                   {"site", kSites[static_cast<std::size_t>(tool.site)]},
                   {"annotations", to_json(tool.annotations)}};
  if (!tool.title.empty()) out["title"] = tool.title;
  if (tool.output_schema) out["outputSchema"] = *tool.output_schema;
  if (!tool.rules.empty()) {
    json::Array rules;
    for (const std::string& rule : tool.rules) rules.emplace_back(rule);
    out["rules"] = std::move(rules);
  }
  return out;
}

Result<ToolDecl> parse_tool_decl(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ToolDecl tool;
  tool.name = in.text("name");
  tool.title = in.optional_text("title").value_or("");
  tool.description = in.optional_text("description").value_or("");
  if (const json::Object* schema = in.optional_object("inputSchema")) {
    tool.input_schema = share_schema(*schema);
  }
  if (const json::Object* schema = in.optional_object("outputSchema")) {
    tool.output_schema = share_schema(*schema);
  }
  if (const json::Array* rules = in.optional_array("rules")) {
    for (const json::Value& rule : *rules) {
      if (const auto* text = rule.if_string()) tool.rules.emplace_back(json::view(*text));
    }
  }
  auto site = in.optional_choice("site", {kSites[0], kSites[1], kSites[2]});
  tool.site = static_cast<ToolSite>(site.value_or(0));
  auto notes = parse_annotations(in.any("annotations"), in.pointer_to("annotations"));
  if (!notes) {
    in.fail(std::move(notes).error());
  } else {
    tool.annotations = *notes;
  }
  return in.finish(std::move(tool));
}

json::Object binding_json(const ToolDecl& tool) {
  json::Object source{{"id", tool.origin.source}};
  if (!tool.origin.version.empty()) source["version"] = tool.origin.version;
  json::Object out{{"name", tool.name},
                   {"kind", tool.kind},
                   {"ref", tool.origin.ref},
                   {"source", std::move(source)}};
  if (!tool.origin.upstream.empty()) out["upstream"] = tool.origin.upstream;
  out["decl"] = to_json(tool);
  return out;
}

Result<ToolDecl> parse_binding(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  std::string kind = in.text("kind");
  json::Fields source(in.any("source"), in.pointer_to("source"));
  ToolOrigin origin{.ref = static_cast<std::size_t>(in.integer("ref", 0, INT32_MAX)),
                    .source = source.text("id"),
                    .version = source.optional_text("version").value_or(""),
                    .upstream = in.optional_text("upstream").value_or("")};
  ERRAND_CHECK(source.finish());
  ERRAND_TRY(auto tool, parse_tool_decl(in.any("decl"), in.pointer_to("decl")));
  tool.kind = std::move(kind);
  tool.origin = std::move(origin);
  return in.finish(std::move(tool));
}

}  // namespace errand
