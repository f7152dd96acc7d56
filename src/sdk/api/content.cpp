#include <errand/content.hpp>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace errand::v1 {

ToolResult ToolResult::failed(std::string message) {
  return {.content = {TextContent{std::move(message)}}, .outcome = ToolOutcome::failed};
}

ToolResult ToolResult::fatal(std::string message) {
  return {.content = {TextContent{std::move(message)}}, .outcome = ToolOutcome::fatal};
}

std::string ToolResult::text() const {
  std::string out;
  for (const Content& one : content) {
    std::string line;
    if (const auto* text = std::get_if<TextContent>(&one)) {
      line = text->text;
    } else if (const auto* json = std::get_if<JsonContent>(&one)) {
      line = json->value.dump();
    } else {
      continue;
    }
    append(out, out.empty() ? "" : "\n", line);
  }
  return out;
}

// ---- Blocks -------------------------------------------------------------------------------------

namespace {

JsonObject bytes_block(std::string_view type, const std::string& bytes, const std::string& mime) {
  return {{"type", type}, {"data", to_base64(bytes)}, {"mimeType", mime}};
}

void set_if(JsonObject& block, std::string_view name, const std::string& value) {
  if (!value.empty()) block.set(name, value);
}

struct ToBlock {
  Json operator()(const TextContent& one) const {
    return JsonObject{{"type", "text"}, {"text", one.text}};
  }
  Json operator()(const JsonContent& one) const {
    return JsonObject{{"type", "text"}, {"text", one.value.dump()}};
  }
  Json operator()(const ImageContent& one) const {
    return bytes_block("image", one.bytes, one.mime_type);
  }
  Json operator()(const AudioContent& one) const {
    return bytes_block("audio", one.bytes, one.mime_type);
  }
  Json operator()(const FileContent& one) const {
    JsonObject resource{{"uri", cat("file:///", percent_encode(one.name))}};
    set_if(resource, "mimeType", one.mime_type);
    resource.set("blob", to_base64(one.bytes));
    return JsonObject{{"type", "resource"}, {"resource", std::move(resource)}};
  }
  Json operator()(const LinkContent& one) const {
    JsonObject block{{"type", "resource_link"}, {"uri", one.url}};
    block.set("name", one.name.empty() ? one.url : one.name);
    set_if(block, "description", one.description);
    set_if(block, "mimeType", one.mime_type);
    return block;
  }
  Json operator()(const ResourceContent& one) const {
    JsonObject resource{{"uri", one.uri}};
    set_if(resource, "mimeType", one.mime_type);
    if (one.bytes.empty()) {
      resource.set("text", one.text);
    } else {
      resource.set("blob", to_base64(one.bytes));
    }
    return JsonObject{{"type", "resource"}, {"resource", std::move(resource)}};
  }
  Json operator()(const EmptyContent&) const { return JsonObject{{"type", "text"}, {"text", ""}}; }
};

// The member's text; empty if it has none.
std::string text_at(const Json& block, std::string_view name) {
  const Json* found = block.find(name);
  const std::string* text = found ? found->if_string() : nullptr;
  return text ? *text : std::string();
}

std::optional<std::string> bytes_at(const Json& block, std::string_view name) {
  const Json* found = block.find(name);
  const std::string* text = found ? found->if_string() : nullptr;
  return text ? from_base64(*text) : std::nullopt;
}

template <class Kind>
std::optional<Content> bytes_from(const Json& block) {
  if (auto bytes = bytes_at(block, "data")) {
    return Kind{std::move(*bytes), text_at(block, "mimeType")};
  }
  const Json* source = block.find("source");
  if (!source || text_at(*source, "type") != "base64") return {};
  auto bytes = bytes_at(*source, "data");
  if (!bytes) return {};
  return Kind{std::move(*bytes), text_at(*source, "media_type")};
}

std::optional<Content> resource_from(const Json& block) {
  const Json* resource = block.find("resource");
  if (!resource || !resource->find("uri")) return {};
  ResourceContent out{.uri = text_at(*resource, "uri"),
                      .mime_type = text_at(*resource, "mimeType")};
  if (resource->find("blob")) {
    auto bytes = bytes_at(*resource, "blob");
    if (!bytes) return {};
    out.bytes = std::move(*bytes);
  } else {
    out.text = text_at(*resource, "text");
  }
  return out;
}

}  // namespace

Json to_block(const Content& content) {
  return std::visit(ToBlock(), content);
}

std::optional<Content> from_block(const Json& block) {
  std::string type = text_at(block, "type");
  const Json* text = block.find("text");
  if (type == "text" && text && text->if_string()) return TextContent{*text->if_string()};
  if (type == "image") return bytes_from<ImageContent>(block);
  if (type == "audio") return bytes_from<AudioContent>(block);
  if (type == "resource") return resource_from(block);
  if (type == "resource_link" && block.find("uri")) {
    return LinkContent{.url = text_at(block, "uri"),
                       .name = text_at(block, "name"),
                       .description = text_at(block, "description"),
                       .mime_type = text_at(block, "mimeType")};
  }
  return {};
}

}  // namespace errand::v1
