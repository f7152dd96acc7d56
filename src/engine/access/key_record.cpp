#include "engine/access/key_record.hpp"

#include <cstdint>
#include <utility>

#include "engine/access/grant_json.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::int64_t kVersion = 1;

void add_time(json::Object& out, std::string_view key, const std::optional<WallTime>& time) {
  if (time) out[key] = to_millis(*time);
}

std::optional<WallTime> read_time(json::Fields& in, std::string_view key) {
  auto count = in.optional_integer(key, INT64_MIN, INT64_MAX);
  if (!count) return {};
  return from_millis(*count);
}

Result<KeyRecord> read_key_record(std::string_view text) {
  ERRAND_TRY(auto value, json::parse(text));
  json::Fields in(value, "");
  in.integer("version", kVersion, kVersion);
  KeyRecord record{.grant = read_grant(in),
                   .expires_at = read_time(in, "expiresAt"),
                   .last_used_at = read_time(in, "lastUsedAt")};
  return in.finish(std::move(record));
}

}  // namespace

std::string to_text(const KeyRecord& record) {
  json::Object out{{"version", kVersion}};
  add_grant(out, record.grant);
  add_time(out, "expiresAt", record.expires_at);
  add_time(out, "lastUsedAt", record.last_used_at);
  return json::write(json::Value(std::move(out)));
}

Result<KeyRecord> parse_key_record(std::string_view text) {
  auto read = read_key_record(text);
  if (read) return read;
  return Error(ErrorCode::internal,
               "the record of a key cannot be read: " + read.error().describe());
}

}  // namespace errand::engine
