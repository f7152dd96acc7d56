#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/home.hpp"
#include "async/task.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "engine/records/record_books.hpp"
#include "net/http.hpp"
#include "room/client/room_gate.hpp"
#include "room/room.hpp"
#include "server/rooms/agent_caller.hpp"
#include "server/rooms/live_rooms.hpp"
#include "server/rooms/memory_budget.hpp"
#include "server/rooms/room_removals.hpp"

namespace errand::server {

// Lets participants into the rooms of all workspaces. Lives on the engine's home; outlives the HTTP
// server's connections.
class RoomDoor final : public room::RoomGate {
 public:
  struct Deps {  // outlive this
    Home home;
    Timers& timers;
    const Clock& clock;
    Store& store;
    engine::RecordBooks& records;
    Log& log;
    net::HttpClient* http = nullptr;  // for agents that participants call; null: no such calls
    SpanSink* spans = nullptr;        // of calls in rooms; null: none are made
    BlockingPool* pool = nullptr;     // reads long messages; null: they are read at once
  };
  struct Options {
    std::string public_url = {};  // empty: as the client addressed it
    // Whether a participant may make a room of this workspace by joining it. Empty: always.
    std::function<bool(const WorkspaceSlug&)> makes_rooms = {};
    room::RoomLimits limits = {};
    // Of a workspace. A join that would make one more is refused with forbidden.
    std::size_t rooms_made_by_joining_max = 10'000;
    net::Compression compression = net::Compression::off;
    MemoryLimits memory = {};
  };

  RoomDoor(const Deps& deps, Options options);

  // Answers a request for /rooms/{name}. forbidden: the token is none, or none for this room.
  // not_found: there is no such room. unsupported: not a request for a WebSocket. unavailable: the
  // room is full, or the store does not answer.
  Task<Result<net::Response>> enter(net::Request request);

  // Where clients reach this server, unless the options say so.
  void serve_at(std::string url) {
    if (options_.public_url.empty()) own_url_ = std::move(url);
  }

  // Lets an agent of this process into a room.
  Task<Result<std::shared_ptr<room::Connection>>> enter(WorkspaceSlug workspace, std::string name,
                                                        std::string participant) override;

  // The room as a record. not_found: there is none.
  Task<Result<NamedRecord>> find_room(WorkspaceSlug workspace, std::string name);
  // Makes a room unless it is there.
  Task<Result<NamedRecord>> ensure_room(WorkspaceSlug workspace, std::string name);
  // Deletes the room, with its stored data, and sends all participants away. not_found: there is no
  // such room, and none of its data is left. After another error it can be called again.
  Task<Result<void>> remove_room(WorkspaceSlug workspace, std::string name);
  // Finishes deletions that an earlier process has begun.
  void resume_removals();

  // Deletes the key, and sends all participants away whose tokens it has signed. not_found.
  Task<Result<void>> remove_key(WorkspaceSlug workspace, std::string id);

  // In room_door_files.cpp.
  // Answers a request for /rooms/{name}/files/{path} with a file. forbidden: the parameter `token`
  // is not one of download_url, or is one for another file. not_found: there is no such file.
  Task<Result<net::Response>> send_file(net::Request request);

  // Who is in a room at the moment; `id` is the id of its record.
  std::vector<room::Room::Listed> participants(const WorkspaceSlug& workspace,
                                               const std::string& id) const;
  // The rooms with participants, and their participants.
  LiveRooms::Counts counts() const { return rooms_.counts(); }
  // Gives up calls of agents, and returns when all data of rooms is stored. No participant may be
  // left in a room.
  Task<void> stop();

  // Where clients find a room.
  std::string url_of(const net::Request& request, std::string_view room) const;

 private:
  struct Admitted {
    room::ParticipantToken token;
    WorkspaceSlug workspace;
  };
  Task<Result<Admitted>> admit(std::string token, std::string room);
  // A token with a key that is known. forbidden: there is none.
  struct Known {
    room::UnverifiedToken token;
    engine::RoomKey key;
  };
  Task<Result<Known>> known_token(std::string token);
  // The room, made if the workspace allows it.
  Task<Result<NamedRecord>> room_to_enter(WorkspaceSlug workspace, std::string name);
  Task<Result<void>> check_room_count(WorkspaceSlug workspace);
  Task<Result<void>> finish_removal(GoingRoom room);
  Task<Result<bool>> finish_removals_of(WorkspaceSlug workspace, std::string name);
  Task<void> finish_removals();
  LiveRooms::Services services();
  Task<void> make_file_url(LiveRooms::Place place, room::FileToRead file, room::Room::FileUrl done);

  const Home home_;
  Store& store_;
  engine::RecordBooks& records_;
  const Clock& clock_;
  Log& log_;
  BlockingPool* const pool_;
  const Options options_;
  std::string own_url_ = options_.public_url;
  MemoryBudget memory_;
  std::unique_ptr<AgentCaller> agents_;  // null: no agents are called
  LiveRooms rooms_;
  std::map<WorkspaceSlug, std::size_t> room_counts_;  // as far as they have been counted
  RoomRemovals removals_;
  std::uint64_t keys_removed_ = 0;
  std::uint64_t rooms_removed_ = 0;
  bool is_stopping_ = false;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::server
