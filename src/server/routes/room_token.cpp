#include "server/routes/room_token.hpp"

#include <array>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "room/access/grants.hpp"
#include "run/unknown_members.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/openapi/request_members.hpp"

namespace errand::server {
namespace {

constexpr auto kRoles = std::to_array<std::string_view>({"user", "agent", "tool"});

}  // namespace

json::Object default_api() {
  return {{"agents", json::Object()},
          {"messaging", json::Object()},
          {"queues", json::Object()},
          {"storage", json::Object()},
          {"developer", json::Object()}};
}

Result<TokenParams> parse_token_params(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kRoomTokenMembers));
  json::Fields in(body, "");
  TokenParams params{.name = in.text("name")};
  auto role = in.optional_choice("role", {kRoles[0], kRoles[1], kRoles[2]});
  params.role = kRoles.at(role.value_or(0));
  if (in.ok() && (trim(params.name).empty() || utf8_length(params.name) > kKeyNameCharsMax)) {
    in.fail("name", cat("a participant's name has 1 to ", kKeyNameCharsMax, " characters"));
  }
  const json::Object* api = in.optional_object("api");
  params.api = api ? *api : default_api();
  if (auto scope = room::parse_api_scope(params.api); in.ok() && !scope) {
    in.fail(Error(ErrorCode::invalid_argument, scope.error().message())
                .pointer(cat("/api", scope.error().pointer())));
  }
  if (auto millis = in.optional_integer("ttlMs", 1000, kKeyMillisMax)) {
    params.lives_for = milliseconds(*millis);
  }
  return in.finish(std::move(params));
}

json::Object token_payload(const TokenParams& params, const std::string& room,
                           const engine::RoomKey& key) {
  json::Array grants{json::Object{{"name", "room"}, {"scope", room}},
                     json::Object{{"name", "role"}, {"scope", params.role}},
                     json::Object{{"name", "api"}, {"scope", params.api}}};
  return {{"name", params.name},
          {"grants", std::move(grants)},
          {"kid", key.info.id},
          {"sub", key.project}};
}

}  // namespace errand::server
