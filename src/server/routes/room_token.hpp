#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "engine/records/room_keys.hpp"
#include "json/value.hpp"

namespace errand::server {

// What a participant token is to say.
struct TokenParams {
  std::string name;
  std::string role;
  json::Object api;
  std::optional<milliseconds> lives_for = {};
};

// All that tools and messages need, and nothing about the server itself.
json::Object default_api();

// invalid_argument: the body asks for no token.
Result<TokenParams> parse_token_params(const json::Value& body);

// Without the time at which the token expires.
json::Object token_payload(const TokenParams& params, const std::string& room,
                           const engine::RoomKey& key);

}  // namespace errand::server
