#include "server/rooms/room_removals.hpp"

#include <utility>

#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kGoingKind = "room_going";
constexpr std::size_t kNotesPage = 500;

// All notes are in one place, so that deletions are finished without listing the workspaces.
WorkspaceSlug notes_workspace() {
  return *WorkspaceSlug::parse("default");
}

RecordKey key_of(std::string id) {
  return {.workspace = notes_workspace(), .kind = std::string(kGoingKind), .id = std::move(id)};
}

}  // namespace

Task<Result<void>> RoomRemovals::begin(GoingRoom room) {
  json::Object body{{"workspace", room.workspace.view()}, {"name", room.name}};
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(std::move(room.id)), .body = json::write(body)});
  auto changed = co_await store_.change_records(std::move(changes));
  if (!changed) co_return std::move(changed).error();
  co_return Result<void>();
}

Task<Result<void>> RoomRemovals::end(std::string id) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(std::move(id)), .body = std::nullopt});
  auto changed = co_await store_.change_records(std::move(changes));
  if (!changed) co_return std::move(changed).error();
  co_return Result<void>();
}

Task<Result<std::vector<GoingRoom>>> RoomRemovals::all() {
  std::vector<GoingRoom> rooms;
  std::string after;
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = notes_workspace(),
                                                              .kind = std::string(kGoingKind),
                                                              .after = std::move(after),
                                                              .limit = kNotesPage}));
    if (records.empty()) co_return rooms;
    for (const Record& record : records) {
      auto body = json::parse(record.body);
      const json::Object* members = body ? body->if_object() : nullptr;
      auto workspace = WorkspaceSlug::parse(json::text_at(members, "workspace"));
      if (!workspace) continue;
      rooms.push_back({.workspace = *workspace,
                       .id = record.key.id,
                       .name = std::string(json::text_at(members, "name"))});
    }
    after = records.back().key.id;
  }
}

}  // namespace errand::server
