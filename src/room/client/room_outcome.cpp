#include "room/client/room_outcome.hpp"

#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

FilePart file_part(std::string bytes, std::string_view mime_type, std::string_view name) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  return {.filename = std::string(name),
          .mime_type = to_lower(mime_type.empty() ? "application/octet-stream" : mime_type),
          .size = static_cast<std::int64_t>(shared->size()),
          .bytes = std::move(shared)};
}

errand::FileContent::Kind file_kind(std::string_view mime_type) {
  if (mime_type.starts_with("image/")) return errand::FileContent::Kind::image;
  if (mime_type.starts_with("audio/")) return errand::FileContent::Kind::audio;
  return errand::FileContent::Kind::file;
}

errand::Content file_of(std::string bytes, std::string_view mime_type, std::string_view name) {
  return errand::FileContent{.kind = file_kind(mime_type),
                             .file = file_part(std::move(bytes), mime_type, name)};
}

void add_part(ToolOutcome& out, Content content) {
  const json::Object& header = content.header;
  switch (kind_of(header)) {
    case ContentKind::json:
      out.structured = header.at("json");
      out.content.emplace_back(errand::JsonContent{header.at("json")});
      return;
    case ContentKind::text:
      out.content.emplace_back(errand::TextContent{std::string(json::text_at(&header, "text"))});
      return;
    case ContentKind::error:
      out.kind = ToolOutcome::Kind::failed;
      out.content.emplace_back(errand::TextContent{std::string(json::text_at(&header, "text"))});
      return;
    case ContentKind::file:
      out.content.push_back(file_of(std::move(content.bytes), json::text_at(&header, "mime_type"),
                                    json::text_at(&header, "name")));
      return;
    case ContentKind::binary:
      out.content.push_back(file_of(std::move(content.bytes), "", ""));
      return;
    case ContentKind::link:
      out.content.emplace_back(
          errand::LinkContent{.uri = std::string(json::text_at(&header, "url")),
                              .name = std::string(json::text_at(&header, "name"))});
      return;
    case ContentKind::raw:
      out.content.emplace_back(errand::JsonContent{header.at("outputs")});
      return;
    case ContentKind::empty:
    case ContentKind::control:
    case ContentKind::unknown: return;
  }
}

std::string bytes_in(const FilePart& file) {
  return file.bytes ? *file.bytes : std::string();
}

Content file_content(const FilePart& file) {
  Content out{.header = {{"type", "file"}}, .bytes = bytes_in(file)};
  out.header["name"] = file.filename.empty() ? "file" : file.filename;
  out.header["mime_type"] = file.mime_type;
  return out;
}

// Converts one part.
struct ToRoomContent {
  Content operator()(const errand::TextContent& part) const {
    return {.header = {{"type", "text"}, {"text", part.text}}};
  }
  Content operator()(const errand::JsonContent& part) const { return json_content(part.value); }
  Content operator()(const errand::FileContent& part) const { return file_content(part.file); }
  Content operator()(const errand::LinkContent& part) const {
    return {.header = {{"type", "link"},
                       {"url", part.uri},
                       {"name", part.name.empty() ? part.uri : part.name}}};
  }
  Content operator()(const errand::ResourceContent& part) const {
    if (part.file) return file_content(*part.file);
    return {.header = {{"type", "text"}, {"text", part.text}}};
  }
};

json::Value part_json(const errand::Content& part) {
  Content content = std::visit(ToRoomContent(), part);
  json::Object out = std::move(content.header);
  if (kind_of(out) == ContentKind::file) out["data"] = to_base64(content.bytes);
  return out;
}

}  // namespace

ToolOutcome to_outcome(std::vector<Content> contents) {
  ToolOutcome out;
  for (Content& content : contents) add_part(out, std::move(content));
  if (contents.size() != 1) out.structured.reset();
  return out;
}

ToolOutcome to_outcome(const Error& error) {
  if (error.code() == ErrorCode::outcome_unknown || error.code() == ErrorCode::timeout) {
    return failed_outcome(cat("The room's tool gave no answer (", error.message(),
                              "). The call may or may not have taken effect."));
  }
  return failed_outcome(cat("The room's tool could not be called: ", error.message()));
}

Content to_content(ToolOutcome outcome) {
  if (!outcome.ok()) {
    Content failed{.header = {{"type", "error"}}};
    failed.header["text"] = text_of(outcome);
    return failed;
  }
  if (outcome.structured) return json_content(std::move(*outcome.structured));
  if (outcome.content.empty()) return empty_content();
  if (outcome.content.size() == 1) return std::visit(ToRoomContent(), outcome.content.front());
  json::Array parts;
  for (const errand::Content& part : outcome.content) parts.push_back(part_json(part));
  return json_content(json::Object{{"content", std::move(parts)}});
}

}  // namespace errand::room
