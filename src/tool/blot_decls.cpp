#include "tool/blot_decls.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

// The end of a text may be a secret that was cut off, which is blotted out as well. A name is never
// cut off: with a line feed behind it, it only matches a whole secret.
bool holds_secret(const std::string& name, const CallSecrets& secrets) {
  const std::string line = cat(name, "\n");
  return secrets.blot_out(line) != line;
}

// Returns false if what is left without the secrets is not a schema.
bool blot_schema(SchemaPtr& schema, const CallSecrets& secrets) {
  if (!schema) return true;
  auto blotted = without_secrets(*schema, secrets);
  if (!blotted) return false;
  if (*blotted != *schema) schema = share_schema(std::move(*blotted));
  return true;
}

// Returns false if the tool can no longer be called without the secrets.
bool blot_decl(ToolDecl& tool, const CallSecrets& secrets) {
  if (holds_secret(tool.name, secrets) || holds_secret(tool.origin.upstream, secrets)) return false;
  tool.title = secrets.blot_out(std::move(tool.title));
  tool.description = secrets.blot_out(std::move(tool.description));
  for (std::string& rule : tool.rules) rule = secrets.blot_out(std::move(rule));
  const SchemaPtr before = tool.input_schema;
  const bool is_whole =
      blot_schema(tool.input_schema, secrets) && blot_schema(tool.output_schema, secrets);
  if (tool.input_schema != before) tool.checker = nullptr;
  return is_whole;
}

}  // namespace

std::optional<json::Object> without_secrets(const json::Object& object,
                                            const CallSecrets& secrets) {
  const std::string text = json::write(json::Value(object));
  const std::string blotted = secrets.blot_out(text);
  if (blotted == text) return object;
  auto parsed = json::parse(blotted);
  if (!parsed || !parsed->is_object()) return {};
  return std::move(parsed->get_object());
}

void blot_out(std::vector<ToolDecl>& tools, const CallSecrets& secrets) {
  if (secrets.empty()) return;
  std::erase_if(tools, [&secrets](ToolDecl& tool) { return !blot_decl(tool, secrets); });
}

}  // namespace errand
