#include "server/rooms/room_records.hpp"

#include <charconv>
#include <cstdio>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::server::room_records {

std::string number_text(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

std::optional<ItemId> parse_item_id(std::string_view rest) {
  std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto queue = percent_decode(rest.substr(0, slash));
  std::string_view digits = rest.substr(slash + 1);
  std::uint64_t seq = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seq, 16);
  if (!queue || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return ItemId{.queue = std::move(*queue), .seq = seq};
}

std::string body_of(const room::StoredFile& file) {
  std::string body;
  json::ObjectWriter(body)
      .field("content", file.content)
      .field("size", file.size)
      .field("partBytes", file.part_bytes)
      .field("mimeType", file.mime_type)
      .field("createdAt", to_millis(file.created_at))
      .field("updatedAt", to_millis(file.updated_at))
      .end();
  return body;
}

Result<room::StoredFile> parse_file(std::string path, std::string_view body) {
  auto value = json::parse(body);
  const json::Object* members = value ? value->if_object() : nullptr;
  const auto size = json::integer_at(members, "size");
  const auto part_bytes = json::integer_at(members, "partBytes");
  if (!size || *size < 0 || !part_bytes || *part_bytes < 1) {
    return Error(ErrorCode::internal, cat("the record of the file ", path, " is damaged"));
  }
  return room::StoredFile{
      .path = std::move(path),
      .content = std::string(json::text_at(members, "content")),
      .size = static_cast<std::uint64_t>(*size),
      .part_bytes = static_cast<std::size_t>(*part_bytes),
      .mime_type = std::string(json::text_at(members, "mimeType")),
      .created_at = from_millis(json::integer_at(members, "createdAt").value_or(0)),
      .updated_at = from_millis(json::integer_at(members, "updatedAt").value_or(0))};
}

}  // namespace errand::server::room_records
