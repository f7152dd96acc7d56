// Requests that MeshAgent's own commands send with a room key before they join a room.
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "room/access/token.hpp"
#include "server/api.hpp"
#include "server/credential_errors.hpp"
#include "server/error_body.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/request_body.hpp"
#include "server/rooms/room_door.hpp"
#include "server/routes/room_token.hpp"

namespace errand::server {
namespace {

// unauthorized: the credential is not a room key. not_found: the key belongs to another project.
Task<Result<engine::RoomKey>> key_of(engine::RoomKeys* keys, std::string text,
                                     std::string project) {
  const auto shown = room::parse_api_key(text);
  if (!shown) co_return bad_credential();
  auto key = co_await keys->find(shown->id);
  if (!key && key.error().code() != ErrorCode::not_found) co_return key;
  if (!key || !crypto::equal_in_constant_time(key->secret, shown->secret)) {
    co_return bad_credential();
  }
  if (key->project == project) co_return key;
  co_return Error(ErrorCode::not_found, "the path names another project than the key's");
}

// Returns the name, which may be empty.
Result<std::string> parse_email(const json::Value& body) {
  json::Fields in(body, "");
  std::string name = in.optional_text("email").value_or("");
  if (utf8_length(name) > kKeyNameCharsMax) {
    in.fail("email", cat("expected at most ", kKeyNameCharsMax, " characters"));
  }
  return in.finish(std::move(name));
}

// The name of the participant that connects: the one in the body, or else the key's.
std::string name_of(std::string asked, const engine::RoomKey& key) {
  if (!trim(asked).empty()) return asked;
  return trim(key.info.name).empty() ? key.info.id : key.info.name;
}

}  // namespace

Api::Answer Api::room_connection(net::Request request) {
  const std::string project = request.params.at(0);
  const std::string room = request.params.at(1);
  ERRAND_CO_TRY(auto key, co_await key_of(&engine_.records().room_keys,
                                          std::string(credential(request)), project));
  if (!room::is_room_name(room)) co_return Error(ErrorCode::not_found, "there is no such room");
  std::string asked;
  if (!request.body.empty()) {
    ERRAND_CO_TRY(asked, co_await read_json(&request, engine_.pool(), parse_email));
  }
  const TokenParams params{
      .name = name_of(std::move(asked), key), .role = "user", .api = default_api()};
  const json::Object answer{{"jwt", room::sign_token(token_payload(params, room, key), key.secret)},
                            {"room_name", room},
                            {"project_id", project},
                            {"room_url", options_.rooms->url_of(request, room)}};
  co_return json_response(200, json::write(answer));
}

Task<net::Response> Api::connect_room(net::Request request) {
  if (!options_.rooms) {
    co_return render_error(Error(ErrorCode::not_found, "this server has no rooms"));
  }
  auto answer = co_await room_connection(std::move(request));
  if (!answer && answer.error().code() == ErrorCode::unauthorized) co_return refuse(answer.error());
  if (!answer) co_return render_error(answer.error());
  co_return std::move(*answer);
}

}  // namespace errand::server
