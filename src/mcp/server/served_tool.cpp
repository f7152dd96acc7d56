#include "mcp/server/served_tool.hpp"

#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::mcp {
namespace {

std::string base64_of(const FilePart& file) {
  return file.bytes ? to_base64(*file.bytes) : std::string();
}

// Turns the content of a tool into content of the protocol.
struct ToOffered {
  Content operator()(const errand::TextContent& part) const { return TextContent{part.text}; }
  Content operator()(const errand::JsonContent& part) const {
    return TextContent{json::write(part.value)};
  }
  Content operator()(const errand::FileContent& part) const {
    std::string bytes = base64_of(part.file);
    switch (part.kind) {
      case errand::FileContent::Kind::image:
        return ImageContent{.base64 = std::move(bytes), .mime_type = part.file.mime_type};
      case errand::FileContent::Kind::audio:
        return AudioContent{.base64 = std::move(bytes), .mime_type = part.file.mime_type};
      case errand::FileContent::Kind::file: break;
    }
    return EmbeddedResource{.uri = cat("file:///", percent_encode(part.file.filename)),
                            .mime_type = part.file.mime_type,
                            .body = BlobBody{std::move(bytes)}};
  }
  Content operator()(const errand::LinkContent& part) const {
    return ResourceLink{.uri = part.uri,
                        .name = part.name.empty() ? part.uri : part.name,
                        .description = part.description,
                        .mime_type = part.mime_type};
  }
  Content operator()(const errand::ResourceContent& part) const {
    EmbeddedResource resource{.uri = part.uri, .mime_type = part.mime_type};
    if (part.file) {
      resource.body = BlobBody{base64_of(*part.file)};
    } else {
      resource.body = TextBody{part.text};
    }
    return resource;
  }
};

}  // namespace

Tool offered_tool(const ToolDecl& decl) {
  Tool tool{.name = decl.name,
            .title = decl.title,
            .description = decl.description,
            .input_schema = *decl.input_schema};
  if (!tool.input_schema.contains("type")) tool.input_schema["type"] = "object";
  if (decl.output_schema) tool.output_schema = *decl.output_schema;
  tool.annotations = {.read_only = decl.annotations.read_only,
                      .destructive = decl.annotations.destructive,
                      .idempotent = decl.annotations.idempotent};
  return tool;
}

Content offered_content(const errand::Content& content) {
  return std::visit(ToOffered(), content);
}

CallToolResult call_result(ToolOutcome outcome) {
  CallToolResult result{.is_error = !outcome.ok()};
  for (const errand::Content& part : outcome.content) {
    result.content.push_back(offered_content(part));
  }
  result.structured_content = std::move(outcome.structured);
  return result;
}

void ReportedProgress::report(ProgressReport report) {
  last_ = report.progress && *report.progress > last_ ? *report.progress : last_ + 1;
  call_.report({.progress = last_, .total = report.total, .message = std::move(report.message)});
}

}  // namespace errand::mcp
