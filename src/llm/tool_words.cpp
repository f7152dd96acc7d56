#include "llm/tool_words.hpp"

#include "base/text.hpp"
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

}  // namespace errand::llm
