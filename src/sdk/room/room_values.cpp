#include "sdk/room/room_values.hpp"

#include <utility>
#include <variant>

#include "base/text.hpp"
#include "json/members.hpp"
#include "sdk/api/values.hpp"

namespace errand::sdk {
namespace {

using v1::RoomContentType;

json::Object plain_object(const v1::JsonObject& value) {
  return std::move(v1::detail::to_value(v1::Json(value)).get_object());
}

v1::JsonObject public_object(const json::Object* value) {
  if (!value) return {};
  v1::Json made = v1::detail::from_value(json::Value(*value));
  return std::move(*made.if_object());
}

struct ToRoom {
  room::Content operator()(const v1::JsonContent& one) const {
    return room::json_content(v1::detail::to_value(one.value));
  }
  room::Content operator()(const v1::TextContent& one) const {
    return {.header = {{"type", "text"}, {"text", one.text}}};
  }
  room::Content operator()(const v1::FileContent& one) const {
    return {.header = {{"type", "file"},
                       {"name", one.name.empty() ? "file" : one.name},
                       {"mime_type",
                        one.mime_type.empty() ? "application/octet-stream" : one.mime_type}},
            .bytes = one.bytes};
  }
  room::Content operator()(const v1::BinaryContent& one) const {
    return room::binary_content(plain_object(one.headers), one.bytes);
  }
  room::Content operator()(const v1::LinkContent& one) const {
    return {.header = {{"type", "link"},
                       {"url", one.url},
                       {"name", one.name.empty() ? one.url : one.name}}};
  }
  room::Content operator()(const v1::EmptyContent&) const { return room::empty_content(); }
};

}  // namespace

room::Content room_content(const v1::RoomContent& content) {
  return std::visit(ToRoom(), content);
}

Result<v1::RoomContent> public_content(room::Content content) {
  const json::Object& header = content.header;
  auto text = [&header](std::string_view key) { return std::string(json::text_at(&header, key)); };
  switch (room::kind_of(header)) {
    case room::ContentKind::json:
      return v1::RoomContent(v1::JsonContent{v1::detail::from_value(header.at("json"))});
    case room::ContentKind::text: return v1::RoomContent(v1::TextContent{text("text")});
    case room::ContentKind::file:
      return v1::RoomContent(v1::FileContent{
          .bytes = std::move(content.bytes), .mime_type = text("mime_type"), .name = text("name")});
    case room::ContentKind::binary:
      return v1::RoomContent(
          v1::BinaryContent{.headers = public_object(json::object_at(&header, "headers")),
                            .bytes = std::move(content.bytes)});
    case room::ContentKind::link:
      return v1::RoomContent(v1::LinkContent{.url = text("url"), .name = text("name")});
    case room::ContentKind::raw:
      return v1::RoomContent(v1::JsonContent{v1::detail::from_value(header.at("outputs"))});
    case room::ContentKind::empty: return v1::RoomContent(v1::EmptyContent{});
    case room::ContentKind::error:
    case room::ContentKind::control:
    case room::ContentKind::unknown: break;
  }
  return Error(ErrorCode::invalid_argument, cat("a content of type \"", text("type"), "\""));
}

std::string_view to_string(RoomContentType type) {
  switch (type) {
    case RoomContentType::json: return "json";
    case RoomContentType::text: return "text";
    case RoomContentType::file: return "file";
    case RoomContentType::binary: return "binary";
    case RoomContentType::link: return "link";
    case RoomContentType::empty: return "empty";
  }
  return "empty";
}

RoomContentType type_of(const v1::RoomContent& content) {
  struct Type {
    RoomContentType operator()(const v1::JsonContent&) const { return RoomContentType::json; }
    RoomContentType operator()(const v1::TextContent&) const { return RoomContentType::text; }
    RoomContentType operator()(const v1::FileContent&) const { return RoomContentType::file; }
    RoomContentType operator()(const v1::BinaryContent&) const { return RoomContentType::binary; }
    RoomContentType operator()(const v1::LinkContent&) const { return RoomContentType::link; }
    RoomContentType operator()(const v1::EmptyContent&) const { return RoomContentType::empty; }
  };
  return std::visit(Type(), content);
}

}  // namespace errand::sdk
