#include "room/access/token.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::room {
namespace {

constexpr std::size_t kRoomNameCharsMax = 63;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kUuidBytes = 16;

std::string to_base64url(std::string_view bytes) {
  std::string text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
  std::string standard(text);
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  while (standard.size() % 4 != 0) standard.push_back('=');
  return from_base64(standard);
}

std::optional<json::Object> decode_part(std::string_view part) {
  auto bytes = from_base64url(part);
  if (!bytes) return std::nullopt;
  auto value = json::parse(*bytes);
  if (!value || !value->is_object()) return std::nullopt;
  return std::move(value->as_object());
}

std::string mac_of(std::string_view secret, std::string_view signed_part) {
  crypto::Sha256 mac = crypto::hmac_sha256(secret, signed_part);
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

// A time in a token is in seconds, perhaps with a fraction.
Result<std::optional<double>> time_at(const json::Object& payload, std::string_view key) {
  const json::Value* value = payload.if_contains(key);
  if (!value || value->is_null()) return std::optional<double>();
  if (!value->is_number()) return refused_token(cat("\"", key, "\" of the token is not a number"));
  return std::optional<double>(value->to_number<double>());
}

// When the token expires; empty if it never does, or only in many years.
Result<std::optional<WallTime>> check_times(const json::Object& payload, WallTime now) {
  constexpr double kManyYearsSeconds = 100.0 * 365 * 24 * 3600;
  const double seconds_now = static_cast<double>(now.time_since_epoch().count()) / 1000;
  ERRAND_TRY(auto expires, time_at(payload, "exp"));
  if (expires && *expires <= seconds_now) return refused_token("the token has expired");
  ERRAND_TRY(auto begins, time_at(payload, "nbf"));
  if (begins && *begins > seconds_now) return refused_token("the token is not valid yet");
  if (!expires || *expires > seconds_now + kManyYearsSeconds) return std::optional<WallTime>();
  return std::optional(from_millis(static_cast<std::int64_t>(*expires * 1000)));
}

Result<void> add_grant(ParticipantToken& token, bool& has_scope, const json::Value& value) {
  const json::Object* grant = value.if_object();
  const json::Value* scope = grant ? grant->if_contains("scope") : nullptr;
  std::string_view name = json::text_at(grant, "name");
  if (!scope || name.empty()) return refused_token("a grant of the token has no name or no scope");
  if (name == "room") {
    if (!scope->is_string()) return refused_token("the token's room is not a string");
    if (!token.room.empty()) return refused_token("the token is for several rooms");
    token.room = std::string(json::view(scope->as_string()));
  } else if (name == "role") {
    std::string_view role = scope->is_string() ? json::view(scope->as_string()) : "";
    if (token.role != Role::user) return {};
    if (role == "agent") token.role = Role::agent;
    if (role == "tool") token.role = Role::tool;
  } else if (name == "api") {
    if (std::exchange(has_scope, true)) return refused_token("the token has several api grants");
    auto parsed = parse_api_scope(*scope);
    if (!parsed) return refused_token(cat("the token's api grant: ", parsed.error().describe()));
    token.scope = std::move(*parsed);
    token.api = json::write(*scope);
  }
  return {};
}

std::optional<std::string> compress_uuid(std::string_view uuid) {
  std::string bytes;
  std::string digits;
  for (char c : uuid) {
    if (c == '-') continue;
    digits.push_back(c);
    if (digits.size() < 2) continue;
    unsigned byte = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, byte, 16);
    if (error != std::errc() || end != digits.data() + 2) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    digits.clear();
  }
  if (bytes.size() != kUuidBytes || !digits.empty()) return std::nullopt;
  std::string text = to_base64url(bytes);
  std::replace(text.begin(), text.end(), '-', '.');
  return text;
}

std::optional<std::string> decompress_uuid(std::string_view text) {
  std::string dashed(text);
  std::replace(dashed.begin(), dashed.end(), '.', '-');
  auto bytes = from_base64url(dashed);
  if (!bytes || bytes->size() != kUuidBytes) return std::nullopt;
  constexpr char kHex[] = "0123456789abcdef";
  std::string uuid;
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid.push_back('-');
    auto byte = static_cast<unsigned char>((*bytes)[i]);
    uuid.push_back(kHex[byte >> 4U]);
    uuid.push_back(kHex[byte & 15U]);
  }
  return uuid;
}

}  // namespace

Error refused_token(std::string message) {
  return Error(ErrorCode::forbidden, std::move(message)).reason("invalid_token");
}

Error refused_signature() {
  return refused_token("the token is signed with an unknown key, or its signature is wrong");
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::user: return "user";
    case Role::agent: return "agent";
    case Role::tool: return "tool";
  }
  return "user";
}

std::string UnverifiedToken::key_id() const {
  return std::string(json::text_at(&payload, "kid"));
}

Result<UnverifiedToken> read_token(std::string_view text) {
  if (text.size() > kTokenBytesMax) return refused_token("the token is too long");
  std::size_t first = text.find('.');
  std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return refused_token("the token is not a JWT");
  auto header = decode_part(text.substr(0, first));
  auto payload = decode_part(text.substr(first + 1, second - first - 1));
  auto signature = from_base64url(text.substr(second + 1));
  if (!header || !payload || !signature) return refused_token("the token is not a JWT");
  if (json::text_at(&*header, "alg") != "HS256") {
    return refused_token("the token is not signed with HS256");
  }
  return UnverifiedToken{.signed_part = std::string(text.substr(0, second)),
                         .signature = std::move(*signature),
                         .payload = std::move(*payload)};
}

Result<std::optional<WallTime>> verify_signature(const UnverifiedToken& token,
                                                 std::string_view secret, WallTime now) {
  if (secret.empty() ||
      !crypto::equal_in_constant_time(mac_of(secret, token.signed_part), token.signature)) {
    return refused_signature();
  }
  return check_times(token.payload, now);
}

Result<ParticipantToken> verify_token(const UnverifiedToken& token, std::string_view secret,
                                      WallTime now) {
  ERRAND_TRY(auto expires_at, verify_signature(token, secret, now));
  ParticipantToken verified;
  verified.expires_at = expires_at;
  verified.identity = {.project = std::string(json::text_at(&token.payload, "sub")),
                       .key_id = token.key_id(),
                       .name = std::string(json::text_at(&token.payload, "name")),
                       .called_by = std::string(json::text_at(&token.payload, kCalledByMember))};
  const std::string& name = verified.identity.name;
  if (trim(name).empty()) return refused_token("the token has no name");
  if (name.size() > kNameBytesMax) return refused_token("the token's name is too long");
  bool has_scope = false;
  if (const json::Array* grants = json::array_at(&token.payload, "grants")) {
    for (const json::Value& grant : *grants) ERRAND_CHECK(add_grant(verified, has_scope, grant));
  }
  return verified;
}

std::string sign_token(const json::Object& payload, std::string_view secret) {
  std::string text = to_base64url(R"({"alg":"HS256","typ":"JWT"})");
  std::string body;
  json::write(body, payload);
  append(text, ".", to_base64url(body));
  std::string mac = mac_of(secret, text);
  append(text, ".", to_base64url(mac));
  return text;
}

std::optional<std::string> to_text(const ApiKeyText& key) {
  auto id = compress_uuid(key.id);
  auto project = compress_uuid(key.project);
  if (!id || !project || key.secret.empty()) return std::nullopt;
  return cat("ma-", *id, "-", *project, "-", key.secret);
}

std::optional<ApiKeyText> parse_api_key(std::string_view text) {
  if (!text.starts_with("ma-")) return std::nullopt;
  text.remove_prefix(3);
  std::size_t first = text.find('-');
  std::size_t second = first == std::string_view::npos ? first : text.find('-', first + 1);
  if (second == std::string_view::npos || second + 1 == text.size()) return std::nullopt;
  auto id = decompress_uuid(text.substr(0, first));
  auto project = decompress_uuid(text.substr(first + 1, second - first - 1));
  if (!id || !project) return std::nullopt;
  return ApiKeyText{.id = std::move(*id),
                    .project = std::move(*project),
                    .secret = std::string(text.substr(second + 1))};
}

bool is_room_name(std::string_view name) {
  if (name.empty() || name.size() > kRoomNameCharsMax) return false;
  if (name.starts_with('-') || name.ends_with('-')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace errand::room
