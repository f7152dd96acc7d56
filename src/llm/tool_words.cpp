#include "llm/tool_words.hpp"

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/pointer.hpp"
#include "json/write.hpp"

namespace errand::llm {

std::string told_description(const ToolDecl& tool) {
  if (!tool.output_schema) return tool.description;
  std::string schema;
  json::write(schema, *tool.output_schema);
  if (schema.size() > kToldSchemaBytesMax) return tool.description;
  return cat(tool.description, tool.description.empty() ? "" : "\n\n",
             "The result is JSON that matches this schema: ", schema);
}

json::Object flat_input_schema(const ToolDecl& tool) {
  json::Value root(*tool.input_schema);
  json::Object& out = root.get_object();
  const json::Array* found = json::array_at(&out, "allOf");
  if (!found) return std::move(out);
  const json::Array branches = *found;
  json::Object properties;
  if (const json::Object* own = json::object_at(&out, "properties")) properties = *own;
  json::Array required;
  if (const json::Array* own = json::array_at(&out, "required")) required = *own;
  for (const json::Value& branch : branches) {
    std::string_view ref = json::text_at(branch.if_object(), "$ref");
    const json::Value* target =
        ref.starts_with("#/") ? json::find_pointer(root, ref.substr(1)) : &branch;
    const json::Object* members = target ? target->if_object() : nullptr;
    if (const json::Object* more = json::object_at(members, "properties")) {
      for (const auto& member : *more) properties.emplace(member.key(), member.value());
    }
    if (const json::Array* more = json::array_at(members, "required")) {
      required.insert(required.end(), more->begin(), more->end());
    }
  }
  out.erase("allOf");
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  return std::move(out);
}

}  // namespace errand::llm
