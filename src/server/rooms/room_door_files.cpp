// Files of rooms, read over HTTP.
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "room/access/token.hpp"
#include "server/rooms/file_feed.hpp"
#include "server/rooms/record_room_store.hpp"
#include "server/rooms/room_door.hpp"

namespace errand::server {
namespace {

// The member of a token that opens a file, and the lifetime of a file's URL.
constexpr std::string_view kFileMember = "file";
constexpr std::chrono::hours kFileUrlLife{1};

}  // namespace

// Makes a token that opens only this file. Nobody can join the room with it.
Task<void> RoomDoor::make_file_url(LiveRooms::Place place, room::FileToRead file,
                                   room::Room::FileUrl done) {
  auto key = co_await records_.room_keys.signing_key(place.workspace);
  if (!key) {
    done(std::move(key).error());
    co_return;
  }
  const WallTime expires = clock_.now() + kFileUrlLife;
  const std::string token = room::sign_token(
      {{"kid", key->info.id},
       {"sub", key->project},
       {"exp", std::chrono::duration_cast<seconds>(expires.time_since_epoch()).count()},
       {kFileMember, {{"room", place.id}, {"path", file.path}}}},
      key->secret);
  std::string base = std::move(file.room_url);
  if (base.starts_with("ws")) base = cat("http", base.substr(2));
  done(cat(base, "/files/", percent_encode(room::name_of_path(file.path)), "?token=", token));
}

Task<Result<net::Response>> RoomDoor::send_file(net::Request request) {
  ERRAND_CO_TRY(auto known, co_await known_token(request.query_param("token").value_or("")));
  ERRAND_CO_CHECK(room::verify_signature(known.token, known.key.secret, clock_.now()));
  const json::Object* opened = json::object_at(&known.token.payload, kFileMember);
  const std::string id(json::text_at(opened, "room"));
  const std::string path(json::text_at(opened, "path"));
  const WorkspaceSlug workspace = known.key.workspace;
  if (id.empty() || path.empty()) co_return room::refused_token("the token is not for a file");
  ERRAND_CO_TRY(auto record, co_await find_room(workspace, request.params.at(0)));
  if (record.id != id) co_return room::refused_token("the token is for another room");
  auto kept = rooms_.store_of(workspace, id);
  auto file = co_await kept->find_file(path);
  if (!file && file.error().code() == ErrorCode::not_found) {
    co_return Error(ErrorCode::not_found, "there is no such file");
  }
  if (!file) co_return std::move(file).error();
  net::Response response;
  // Browsers must not run scripts of an uploaded file at the server's address.
  response.headers = {
      {.name = "Content-Disposition",
       .value = cat("attachment; filename*=UTF-8''", percent_encode(room::name_of_path(path)))},
      {.name = "X-Content-Type-Options", .value = "nosniff"},
      {.name = "Content-Security-Policy", .value = "sandbox"}};
  response.events_type = file->mime_type;
  response.events = std::make_unique<FileFeed>(std::move(kept), std::move(*file));
  co_return response;
}

}  // namespace errand::server
