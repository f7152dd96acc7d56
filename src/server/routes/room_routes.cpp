// Rooms, tokens for them, and room keys.
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "run/unknown_members.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/openapi/request_members.hpp"
#include "server/request_body.hpp"
#include "server/rooms/room_door.hpp"
#include "server/routes/record_answer.hpp"
#include "server/routes/room_token.hpp"

namespace errand::server {
namespace {

json::Object room_json(const NamedRecord& room) {
  return {{"id", room.id}, {"name", room.name}, {"createdAt", to_iso8601(room.created_at)}};
}

json::Array participants_json(const std::vector<room::Room::Listed>& participants) {
  json::Array all;
  for (const room::Room::Listed& one : participants) {
    json::Array toolkits;
    for (const std::string& name : one.toolkits) toolkits.emplace_back(name);
    all.push_back(json::Object{{"id", one.id},
                               {"name", one.name},
                               {"role", to_string(one.role)},
                               {"toolkits", std::move(toolkits)}});
  }
  return all;
}

Result<std::string> room_of_path(const net::Request& request) {
  const std::string& name = request.params.at(1);
  if (!room::is_room_name(name)) return Error(ErrorCode::not_found, "there is no such room");
  return name;
}

// Returns the name.
Result<std::string> parse_new_room(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kRoomMembers));
  json::Fields in(body, "");
  std::string name = in.text("name");
  if (in.ok() && !room::is_room_name(name)) {
    in.fail("name", "a room's name is 1 to 63 of a-z, 0-9 and hyphens inside");
  }
  return in.finish(std::move(name));
}

// Returns the name, which may be empty.
Result<std::string> parse_new_key(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kRoomKeyMembers));
  json::Fields in(body, "");
  std::string name = in.optional_text("name").value_or("");
  if (utf8_length(name) > kKeyNameCharsMax) {
    in.fail("name", cat("a name has at most ", kKeyNameCharsMax, " characters"));
  }
  return in.finish(std::move(name));
}

bool is_bad_token(const Error& error) {
  return error.reason() == "invalid_token";
}

json::Object room_key_json(const engine::RoomKeyInfo& key) {
  return {{"id", key.id}, {"name", key.name}, {"createdAt", to_iso8601(key.created_at)}};
}

}  // namespace

Api::Answer Api::create_room(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, co_await read_json(&request, engine_.pool(), parse_new_room));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(auto saved, co_await engine_.records().rooms.create(who.workspace, std::move(name),
                                                                    "{}", std::move(idempotency)));
  co_return json_response(201, json::write(room_json(saved.record)));
}

Api::Answer Api::list_rooms(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  ERRAND_CO_TRY(auto found, co_await engine_.records().rooms.list(
                                who.workspace, std::move(page.after), page.limit));
  json::Array items;
  for (const NamedRecord& room : found.records) items.push_back(room_json(room));
  co_return page_response("rooms", std::move(items), found.next);
}

Api::Answer Api::get_room(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, room_of_path(request));
  ERRAND_CO_TRY(auto room, co_await engine_.records().rooms.find(who.workspace, name));
  json::Object body = room_json(room);
  if (options_.rooms) {
    body["url"] = options_.rooms->url_of(request, name);
    body["participants"] = participants_json(options_.rooms->participants(who.workspace, room.id));
  }
  co_return json_response(200, json::write(body));
}

Api::Answer Api::delete_room(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, room_of_path(request));
  if (options_.rooms) {
    ERRAND_CO_CHECK(co_await options_.rooms->remove_room(who.workspace, name));
  } else {
    ERRAND_CO_CHECK(co_await engine_.records().rooms.remove(who.workspace, name, {}));
  }
  co_return json_response(204, {});
}

Api::Answer Api::create_room_token(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, room_of_path(request));
  ERRAND_CO_TRY(auto params, co_await read_json(&request, engine_.pool(), parse_token_params));
  ERRAND_CO_TRY(auto room, co_await engine_.records().rooms.find(who.workspace, name));
  // A token must not live longer than the credential that makes it.
  if (auto left = time_left(credential(request), who.key)) {
    params.lives_for = std::min(params.lives_for.value_or(*left), *left);
  }
  ERRAND_CO_TRY(auto key, co_await engine_.records().room_keys.signing_key(who.workspace));
  json::Object payload = token_payload(params, room.name, key);
  json::Object answer{{"room", room.name}, {"expiresAt", nullptr}};
  if (params.lives_for) {
    const WallTime expires = engine_.clock().now() + *params.lives_for;
    payload["exp"] = std::chrono::duration_cast<seconds>(expires.time_since_epoch()).count();
    answer["expiresAt"] = to_iso8601(expires);
  }
  answer["token"] = room::sign_token(payload, key.secret);
  if (options_.rooms) answer["url"] = options_.rooms->url_of(request, room.name);
  co_return json_response(201, json::write(answer));
}

Api::Answer Api::create_room_key(Principal who, net::Request request) {
  ERRAND_CO_CHECK(check_lasting(who, request, "a room key"));
  ERRAND_CO_TRY(auto name, co_await read_json(&request, engine_.pool(), parse_new_key));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(auto key, co_await engine_.records().room_keys.create(
                              who.workspace, std::move(name), std::move(idempotency)));
  json::Object answer = room_key_json(key.info);
  answer["apiKey"] =
      room::to_text({.id = key.info.id, .project = key.project, .secret = key.secret}).value();
  co_return json_response(201, json::write(answer));
}

Api::Answer Api::list_room_keys(Principal who, net::Request) {
  ERRAND_CO_TRY(auto keys, co_await engine_.records().room_keys.list(who.workspace));
  json::Array items;
  for (const engine::RoomKeyInfo& key : keys) items.push_back(room_key_json(key));
  co_return page_response("roomKeys", std::move(items), "");
}

Api::Answer Api::delete_room_key(Principal who, net::Request request) {
  std::string id = request.params.at(1);
  if (options_.rooms) {
    ERRAND_CO_CHECK(co_await options_.rooms->remove_key(who.workspace, std::move(id)));
  } else {
    ERRAND_CO_CHECK(co_await engine_.records().room_keys.remove(who.workspace, std::move(id)));
  }
  co_return json_response(204, {});
}

Task<net::Response> Api::join_room(net::Request request) {
  if (!options_.rooms) {
    co_return render_error(Error(ErrorCode::not_found, "this server has no rooms"));
  }
  auto answer = co_await options_.rooms->enter(std::move(request));
  if (!answer && is_bad_token(answer.error())) co_return refuse(answer.error());
  if (!answer) co_return render_error(answer.error());
  co_return std::move(*answer);
}

Task<net::Response> Api::get_room_file(net::Request request) {
  if (!options_.rooms) {
    co_return render_error(Error(ErrorCode::not_found, "this server has no rooms"));
  }
  auto answer = co_await options_.rooms->send_file(std::move(request));
  if (!answer && is_bad_token(answer.error())) co_return refuse(answer.error());
  if (!answer) co_return render_error(answer.error());
  co_return std::move(*answer);
}

}  // namespace errand::server
