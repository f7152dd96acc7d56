#include "room/wire/toolkit.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kTextMembers[] = {"title", "description", "thumbnail_url", "pricing"};

Error bad_shape(std::string message, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer);
}

bool is_absent(const json::Value* value) {
  return !value || value->is_null();
}

Result<ContentSpec> parse_spec(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  ContentSpec spec;
  spec.stream = in.optional_flag("stream").value_or(false);
  if (const json::Object* schema = in.optional_object("schema")) spec.schema = *schema;
  const json::Array* types = in.optional_array("types");
  if (in.ok() && (!types || types->empty())) in.fail("types", "expected at least one content type");
  for (const json::Value& type : types ? *types : json::Array()) {
    ContentKind kind = kind_of({{"type", type}});
    if (!is_declarable(kind)) in.fail("types", "expected json, text, file, binary, link or empty");
    spec.types.push_back(kind);
  }
  return in.finish(std::move(spec));
}

json::Object spec_json(const ContentSpec& spec) {
  json::Array types;
  for (ContentKind kind : spec.types) types.emplace_back(to_string(kind));
  json::Object out{{"types", std::move(types)}, {"stream", spec.stream}};
  if (spec.schema) out["schema"] = *spec.schema;
  return out;
}

json::Value spec_json_without_binary(const std::optional<ContentSpec>& spec) {
  if (!spec) return nullptr;
  ContentSpec rest = *spec;
  std::erase(rest.types, ContentKind::binary);
  if (rest.types.empty()) return nullptr;
  return spec_json(rest);
}

// "input_spec", or the bare schema that very old clients send instead.
Result<std::optional<ContentSpec>> spec_at(const json::Object& tool, std::string_view key,
                                           std::string_view old_key, std::string_view pointer) {
  if (const json::Value* value = tool.if_contains(key); !is_absent(value)) {
    ERRAND_TRY(ContentSpec spec, parse_spec(*value, json::child_pointer(pointer, key)));
    return std::optional(std::move(spec));
  }
  if (const json::Object* schema = json::object_at(&tool, old_key)) {
    return std::optional(ContentSpec{.types = {ContentKind::json}, .schema = *schema});
  }
  return std::optional<ContentSpec>();
}

// Copies members of a known type to `out`; members of another type are refused.
Result<void> copy_texts(const json::Object& from, json::Object& out, std::string_view pointer) {
  for (std::string_view key : kTextMembers) {
    const json::Value* value = from.if_contains(key);
    if (is_absent(value)) continue;
    if (!value->is_string())
      return bad_shape("expected a string", json::child_pointer(pointer, key));
    out[key] = *value;
  }
  if (const json::Value* rules = from.if_contains("rules"); !is_absent(rules)) {
    const json::Array* list = rules->if_array();
    bool is_texts = list && std::all_of(list->begin(), list->end(),
                                        [](const json::Value& one) { return one.is_string(); });
    if (!is_texts) {
      return bad_shape("expected a list of strings", json::child_pointer(pointer, "rules"));
    }
    out["rules"] = *rules;
  }
  return {};
}

struct ParsedTool {
  Tool tool;
  json::Object listed;
  json::Object listed_without_binary;
};

Result<ParsedTool> parse_tool(const json::Value& value, std::string_view name,
                              std::string_view pointer) {
  const json::Object* from = value.if_object();
  if (!from) return bad_shape("expected an object", pointer);
  ParsedTool parsed;
  ERRAND_TRY(parsed.tool.input, spec_at(*from, "input_spec", "input_schema", pointer));
  ERRAND_TRY(auto output, spec_at(*from, "output_spec", "output_schema", pointer));
  json::Object& listed = parsed.listed;
  listed = {{"title", name}, {"description", ""}};
  ERRAND_CHECK(copy_texts(*from, listed, pointer));
  listed["input_spec"] = parsed.tool.input ? json::Value(spec_json(*parsed.tool.input)) : nullptr;
  listed["output_spec"] = output ? json::Value(spec_json(*output)) : nullptr;
  if (const json::Value* defs = from->if_contains("defs"); !is_absent(defs)) {
    if (!defs->is_object())
      return bad_shape("expected an object", json::child_pointer(pointer, "defs"));
    parsed.tool.defs = defs->as_object();
    listed["defs"] = *defs;
  }
  if (const json::Value* strict = from->if_contains("strict"); strict && strict->is_bool()) {
    listed["strict"] = *strict;
  }
  parsed.listed_without_binary = listed;
  parsed.listed_without_binary["input_spec"] = spec_json_without_binary(parsed.tool.input);
  parsed.listed_without_binary["output_spec"] = spec_json_without_binary(output);
  return parsed;
}

// The members of an object as text, without the braces.
std::string members_text(const json::Object& object) {
  std::string text;
  json::write(text, object);
  return text.substr(1, text.size() - 2);
}

Result<void> copy_annotations(const json::Object& from, json::Object& out) {
  const json::Value* value = from.if_contains("annotations");
  if (is_absent(value)) return {};
  const json::Object* annotations = value->if_object();
  bool is_texts =
      annotations && std::all_of(annotations->begin(), annotations->end(),
                                 [](const auto& one) { return one.value().is_string(); });
  if (!is_texts) return bad_shape("expected an object of strings", "/annotations");
  out["annotations"] = *value;
  return {};
}

bool may_be_null(const json::Value& schema) {
  const json::Object* object = schema.if_object();
  if (!object) return false;
  if (const json::Value* type = object->if_contains("type")) {
    if (type->is_string()) return type->as_string() == "null";
    const json::Array* types = type->if_array();
    return types && std::any_of(types->begin(), types->end(), [](const json::Value& one) {
             return one.is_string() && one.as_string() == "null";
           });
  }
  for (std::string_view key : {"anyOf", "oneOf"}) {
    const json::Array* branches = json::array_at(object, key);
    if (branches && std::any_of(branches->begin(), branches->end(), may_be_null)) return true;
  }
  return false;
}

void fill_nullable(const json::Object& schema, json::Object& value) {
  const json::Array* required = json::array_at(&schema, "required");
  const json::Object* properties = json::object_at(&schema, "properties");
  if (!required || !properties) return;
  for (const json::Value& key : *required) {
    if (!key.is_string() || value.contains(json::view(key.as_string()))) continue;
    const json::Value* property = properties->if_contains(json::view(key.as_string()));
    if (property && may_be_null(*property)) value[json::view(key.as_string())] = nullptr;
  }
}

// The part of a content that its schema describes.
json::Value schema_value(const Content& content) {
  const json::Object& header = content.header;
  switch (kind_of(header)) {
    case ContentKind::json: return header.at("json");
    case ContentKind::text: return header.at("text");
    case ContentKind::link: return {{"name", header.at("name")}, {"url", header.at("url")}};
    case ContentKind::file:
      return {{"name", header.at("name")},
              {"mime_type", header.at("mime_type")},
              {"size", static_cast<std::int64_t>(content.bytes.size())}};
    case ContentKind::binary: return header.at("headers");
    case ContentKind::empty:
    case ContentKind::error:
    case ContentKind::control:
    case ContentKind::raw:
    case ContentKind::unknown: break;
  }
  return nullptr;
}

json::Object with_defs(const json::Object& schema, const json::Object& defs) {
  if (defs.empty()) return schema;
  json::Object whole = schema;
  json::Object all = defs;
  if (const json::Object* own = json::object_at(&schema, "$defs")) {
    for (const auto& [key, value] : *own) all[key] = value;
  }
  whole["$defs"] = std::move(all);
  return whole;
}

Error no_fit(std::string_view name, std::string_view what) {
  return {ErrorCode::invalid_argument, cat("tool '", name, "' ", what)};
}

}  // namespace

Result<Toolkit> parse_toolkit(const json::Object& header, const ToolkitLimits& limits) {
  json::Value value(header);
  json::Fields in(value, "");
  Toolkit toolkit{.name = in.text("name")};
  toolkit.is_public = in.optional_flag("public").value_or(false);
  const json::Object* tools = in.optional_object("tools");
  ERRAND_CHECK(in.finish());
  if (trim(toolkit.name).empty()) return bad_shape("a toolkit needs a name", "/name");
  if (toolkit.name.size() > limits.name_bytes_max)
    return bad_shape("the name is too long", "/name");
  json::Object listed{{"title", toolkit.name}, {"description", ""}};
  ERRAND_CHECK(copy_texts(header, listed, ""));
  ERRAND_CHECK(copy_annotations(header, listed));
  toolkit.takes_cancel =
      json::text_at(json::object_at(&header, "annotations"), kCancelAnnotation) == "true";
  json::Object listed_tools;
  json::Object listed_tools_without_binary;
  if (tools && tools->size() > limits.tools_max) {
    return Error(ErrorCode::too_large, "the toolkit has too many tools")
        .limit("tools", static_cast<std::int64_t>(limits.tools_max));
  }
  for (const auto& [name, tool] : tools ? *tools : json::Object()) {
    ERRAND_TRY(ParsedTool parsed, parse_tool(tool, name, json::child_pointer("/tools", name)));
    toolkit.tools.emplace(name, std::move(parsed.tool));
    listed_tools[name] = std::move(parsed.listed);
    listed_tools_without_binary[name] = std::move(parsed.listed_without_binary);
  }
  listed["tools"] = std::move(listed_tools);
  toolkit.listed = members_text(listed);
  listed["tools"] = std::move(listed_tools_without_binary);
  toolkit.listed_without_binary = members_text(listed);
  return toolkit;
}

Result<Content> fit_input(std::string_view name, const Tool& tool, Content arguments,
                          json::SchemaCache& schemas) {
  ContentKind kind = kind_of(arguments.header);
  if (kind == ContentKind::control) return no_fit(name, "does not take streamed input");
  auto takes = [&](ContentKind one) {
    return !tool.input || std::find(tool.input->types.begin(), tool.input->types.end(), one) !=
                              tool.input->types.end();
  };
  if (kind == ContentKind::empty && (!tool.input || !takes(ContentKind::empty))) {
    arguments = json_content(json::Object());
    kind = ContentKind::json;
  }
  if (!takes(kind)) return no_fit(name, cat("does not take input of type ", to_string(kind)));
  if (!tool.input || !tool.input->schema) return arguments;
  json::Value* value = arguments.header.if_contains("json");
  if (kind == ContentKind::json && value && value->is_object()) {
    fill_nullable(*tool.input->schema, value->as_object());
  }
  auto schema = schemas.get(with_defs(*tool.input->schema, tool.defs));
  if (!schema) {
    return no_fit(name,
                  cat("has an input_schema that cannot be used: ", schema.error().describe()));
  }
  auto errors = (*schema)->validate(schema_value(arguments));
  if (!errors.empty()) {
    return no_fit(name, cat("input does not match input_schema: ", json::describe(errors)));
  }
  return arguments;
}

}  // namespace errand::room
