#include "server/rooms/live_rooms.hpp"

#include "crypto/random.hpp"
#include "server/rooms/record_room_store.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kIdBytes = 12;

std::string random_id() {
  return crypto::random_hex(kIdBytes);
}

}  // namespace

std::shared_ptr<room::Room> LiveRooms::open(const Place& place) {
  const Key key(place.workspace, place.name);
  if (auto there = find(place.workspace, place.name)) return there;
  auto kept =
      std::make_shared<RecordRoomStore>(deps_.store, deps_.tasks, place.workspace, place.id);
  auto* made = new room::Room({.home = deps_.home,
                               .name = place.name,
                               .url = place.url,
                               .session_id = random_id(),
                               .timers = deps_.timers,
                               .schemas = schemas_,
                               .make_id = random_id,
                               .limits = limits_,
                               .store = kept.get()});
  // The entry goes with the room. Rooms do not outlive this object.
  std::shared_ptr<room::Room> opened(made, [this, key, kept](room::Room* gone) {
    rooms_.erase(key);
    kept->detach();
    delete gone;
  });
  rooms_[key] = opened;
  return opened;
}

std::shared_ptr<room::Room> LiveRooms::find(const WorkspaceSlug& workspace,
                                            const std::string& name) const {
  auto found = rooms_.find({workspace, name});
  return found == rooms_.end() ? nullptr : found->second.lock();
}

}  // namespace errand::server
