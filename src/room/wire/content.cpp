#include "room/wire/content.hpp"

#include <array>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

struct KindName {
  ContentKind kind;
  std::string_view name;
};
constexpr std::array kKindNames{
    KindName{ContentKind::json, "json"},   KindName{ContentKind::text, "text"},
    KindName{ContentKind::file, "file"},   KindName{ContentKind::binary, "binary"},
    KindName{ContentKind::link, "link"},   KindName{ContentKind::empty, "empty"},
    KindName{ContentKind::error, "error"}, KindName{ContentKind::control, "control"},
    KindName{ContentKind::raw, "raw"},
};

bool has_text(const json::Object& header, std::string_view key) {
  const json::Value* value = header.if_contains(key);
  return value && value->is_string();
}

std::optional<std::string> missing(const json::Object& header,
                                   std::initializer_list<std::string_view> texts) {
  for (std::string_view key : texts) {
    if (!has_text(header, key)) return cat("\"", key, "\" has to be a string");
  }
  return std::nullopt;
}

}  // namespace

ContentKind kind_of(const json::Object& header) {
  std::string_view type = json::text_at(&header, "type");
  for (const KindName& one : kKindNames) {
    if (one.name == type) return one.kind;
  }
  return ContentKind::unknown;
}

std::string_view to_string(ContentKind kind) {
  for (const KindName& one : kKindNames) {
    if (one.kind == kind) return one.name;
  }
  return "unknown";
}

bool is_declarable(ContentKind kind) {
  switch (kind) {
    case ContentKind::json:
    case ContentKind::text:
    case ContentKind::file:
    case ContentKind::binary:
    case ContentKind::link:
    case ContentKind::empty: return true;
    case ContentKind::error:
    case ContentKind::control:
    case ContentKind::raw:
    case ContentKind::unknown: return false;
  }
  return false;
}

std::optional<std::string> flaw_of(const json::Object& header) {
  switch (kind_of(header)) {
    case ContentKind::json:
      if (!header.contains("json")) return "\"json\" is missing";
      return std::nullopt;
    case ContentKind::text:
    case ContentKind::error: return missing(header, {"text"});
    case ContentKind::file: return missing(header, {"name", "mime_type"});
    case ContentKind::link: return missing(header, {"url", "name"});
    case ContentKind::binary:
      if (!json::object_at(&header, "headers")) return "\"headers\" has to be an object";
      return std::nullopt;
    case ContentKind::control:
      if (is_open(header) || is_close(header)) return std::nullopt;
      return "\"method\" has to be open or close";
    case ContentKind::raw:
      if (!json::array_at(&header, "outputs")) return "\"outputs\" has to be a list";
      return std::nullopt;
    case ContentKind::empty: return std::nullopt;
    case ContentKind::unknown: break;
  }
  return cat("the content type \"", json::text_at(&header, "type"), "\" is not known");
}

bool is_open(const json::Object& header) {
  return kind_of(header) == ContentKind::control && json::text_at(&header, "method") == "open";
}

bool is_close(const json::Object& header) {
  return kind_of(header) == ContentKind::control && json::text_at(&header, "method") == "close";
}

Content empty_content() {
  return {.header = {{"type", "empty"}}};
}

Content json_content(json::Value value) {
  Content content{.header = {{"type", "json"}}};
  content.header["json"] = std::move(value);
  return content;
}

Content binary_content(json::Object headers, std::string bytes) {
  Content content{.header = {{"type", "binary"}}, .bytes = std::move(bytes)};
  content.header["headers"] = std::move(headers);
  return content;
}

Content error_content(RoomCode code, std::string_view text) {
  Content content{.header = {{"type", "error"}}};
  content.header["text"] = text;
  content.header["code"] = static_cast<std::int64_t>(code);
  return content;
}

Content open_content() {
  return {.header = {{"type", "control"}, {"method", "open"}}};
}

Content close_content(int status, std::string_view message) {
  Content content{.header = {{"type", "control"}, {"method", "close"}}};
  content.header["status_code"] = status;
  if (!message.empty()) content.header["message"] = message;
  return content;
}

std::int64_t close_status(const json::Object& close) {
  return json::integer_at(&close, "status_code").value_or(kNormalEnd);
}

Content take_arguments(json::Object& request, std::string& attachment) {
  json::Value* arguments = request.if_contains("arguments");
  if (!arguments || arguments->is_null()) return empty_content();
  json::Object* object = arguments->if_object();
  const json::Value* type = object ? object->if_contains("type") : nullptr;
  if (!type || !type->is_string()) return json_content(std::move(*arguments));
  return {.header = std::move(*object), .bytes = std::move(attachment)};
}

Message to_message(std::uint64_t id, std::string_view type, Content content) {
  Message message{
      .id = id, .type = std::string(type), .header = "", .attachment = std::move(content.bytes)};
  json::write(message.header, content.header);
  return message;
}

}  // namespace errand::room
