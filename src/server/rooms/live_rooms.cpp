#include "server/rooms/live_rooms.hpp"

#include "crypto/random.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kIdBytes = 12;
// The list of stores is cleaned when it has this many that no longer exist.
constexpr std::size_t kGoneStoresMax = 100;

std::string random_id() {
  return crypto::random_hex(kIdBytes);
}

}  // namespace

std::shared_ptr<RecordRoomStore> LiveRooms::store_of(const WorkspaceSlug& workspace,
                                                     const std::string& id) {
  const Key key(workspace, id);
  if (auto found = stores_.find(key); found != stores_.end()) {
    if (auto there = found->second.lock()) return there;
  }
  if (stores_.size() > rooms_.size() + kGoneStoresMax) {
    std::erase_if(stores_, [](const auto& one) { return one.second.expired(); });
  }
  auto made = std::make_shared<RecordRoomStore>(deps_.store, deps_.tasks, workspace, id);
  stores_[key] = made;
  return made;
}

std::shared_ptr<room::Room> LiveRooms::open(const Place& place) {
  const Key key(place.workspace, place.id);
  if (auto there = find(place.workspace, place.id)) return there;
  auto kept = store_of(place.workspace, place.id);
  kept->attach();
  std::function<void(room::AgentCall, room::Room::AgentCalled)> call_agent;
  if (services_.call_agent) {
    call_agent = [this, place](room::AgentCall call, room::Room::AgentCalled done) {
      services_.call_agent(place, std::move(call), std::move(done));
    };
  }
  auto* made =
      new room::Room({.home = deps_.home,
                      .name = place.name,
                      .session_id = random_id(),
                      .timers = deps_.timers,
                      .clock = deps_.clock,
                      .schemas = schemas_,
                      .make_id = random_id,
                      .limits = limits_,
                      .store = kept.get(),
                      .make_file_url =
                          [this, place](room::FileToRead file, room::Room::FileUrl done) {
                            services_.make_file_url(place, std::move(file), std::move(done));
                          },
                      .call_agent = std::move(call_agent),
                      .spans = deps_.spans});
  // When the room is destroyed, its entry goes with it. No room outlives this object.
  std::shared_ptr<room::Room> opened(made, [this, key, kept](room::Room* gone) {
    rooms_.erase(key);
    delete gone;
    kept->detach();
  });
  rooms_[key] = opened;
  return opened;
}

std::shared_ptr<room::Room> LiveRooms::find(const WorkspaceSlug& workspace,
                                            const std::string& id) const {
  auto found = rooms_.find({workspace, id});
  return found == rooms_.end() ? nullptr : found->second.lock();
}

LiveRooms::Counts LiveRooms::counts() const {
  Counts counts;
  for (const auto& [key, room] : rooms_) {
    const auto there = room.lock();
    if (!there) continue;
    ++counts.rooms;
    counts.participants += there->counts().participants;
  }
  return counts;
}

void LiveRooms::evict_key(const std::string& key_id, std::string_view reason) {
  std::vector<std::shared_ptr<room::Room>> rooms;
  for (const auto& [key, room] : rooms_) {
    if (auto there = room.lock()) rooms.push_back(std::move(there));
  }
  for (const auto& room : rooms) room->evict_key(key_id, reason);
}

}  // namespace errand::server
