#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "room/access/grants.hpp"

namespace errand::room {

// Bounds of a token; one beyond is refused.
constexpr std::size_t kTokenBytesMax = 16U * 1024;

enum class Role : std::uint8_t { user, agent, tool };
std::string_view to_string(Role role);

// Why a token is refused. Clients try again after 401, so that a bad token is forbidden.
Error refused_token(std::string message);
// The same for a key that is unknown and for one that has not signed the token: nobody learns from
// a refusal which keys there are.
Error refused_signature();

// A participant token that is not verified yet.
struct UnverifiedToken {
  std::string signed_part;  // header and payload, as the signature covers them
  std::string signature;
  json::Object payload;

  // Which API key has signed it; empty if it does not say.
  std::string key_id() const;
};

// Who a participant is, for taking over what an earlier connection of the same one holds.
struct Identity {
  std::string project;
  std::string key_id;
  std::string name;
  // The participants that called this one into the room, if any: each name percent-encoded, with
  // slashes between them. So no participant gets the toolkits of another one by calling an agent of
  // its name.
  std::string called_by = {};

  friend auto operator<=>(const Identity&, const Identity&) = default;
};

// What a verified token says.
struct ParticipantToken {
  Identity identity;
  Role role = Role::user;
  std::string room;  // empty: no room is granted
  std::optional<WallTime> expires_at = {};
  ApiScope scope;
  std::string api = {};  // the same as JSON, as the token has it; empty: nothing is granted
};

// The member of a token that says by whom its holder was called.
constexpr std::string_view kCalledByMember = "called_by";

// forbidden: not a token that is signed with HS256.
Result<UnverifiedToken> read_token(std::string_view text);

// When the token expires, if it does. forbidden: another secret has signed it, or it has expired or
// is not valid yet.
Result<std::optional<WallTime>> verify_signature(const UnverifiedToken& token,
                                                 std::string_view secret, WallTime now);

// forbidden: the same, or the token makes no sense.
Result<ParticipantToken> verify_token(const UnverifiedToken& token, std::string_view secret,
                                      WallTime now);

// A token with this payload.
std::string sign_token(const json::Object& payload, std::string_view secret);

// "ma-<id>-<project>-<secret>", as clients take it. Both ids are UUIDs.
struct ApiKeyText {
  std::string id;
  std::string project;
  std::string secret;

  friend bool operator==(const ApiKeyText&, const ApiKeyText&) = default;
};
std::optional<std::string> to_text(const ApiKeyText& key);
std::optional<ApiKeyText> parse_api_key(std::string_view text);

// 1 to 63 of a-z, 0-9 and hyphens, with no hyphen at the ends.
bool is_room_name(std::string_view name);

}  // namespace errand::room
