#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "net/client/http_client.hpp"
#include "room/client/room_client.hpp"
#include "room/client/room_gate.hpp"
#include "tool/schema_work.hpp"
#include "tool/tool_source.hpp"

namespace errand::room {

// The tools of rooms that runs join (RoomRef). Runs of the same agent in the same room are one
// participant, which leaves when it has had nothing to do for a while. Lives on one home; must be
// stopped before it is destroyed, after the runs that use it.
class RoomTools final : public RemoteToolSource {
 public:
  // Participants. Beyond, the one used longest ago leaves its room; if all of them are in use, a
  // run that needs one more is refused with unavailable.
  static constexpr std::size_t kClientsMax = 1'000;
  static constexpr milliseconds kIdleMax{300'000};
  static constexpr milliseconds kJoinMax{15'000};

  struct Deps {
    Executor home;
    Timers& timers;
    TaskGroup::OnBug on_bug;
    net::ClientOptions web;           // how rooms elsewhere are reached
    SecretSource* secrets = nullptr;  // for tokens; null: there are none
    milliseconds host_wait{10'000};   // how long a call waits for a host that is coming back
    SchemaWork schemas = {};          // where the schemas of hosts are compiled
    std::size_t clients_max = kClientsMax;
  };
  explicit RoomTools(Deps deps);
  RoomTools(const RoomTools&) = delete;
  RoomTools& operator=(const RoomTools&) = delete;

  // Rooms of the workspace are found behind the gate, which outlives all calls.
  void open_gate(RoomGate& gate) { gate_ = &gate; }

  Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;

  Task<void> stop();

 private:
  class GateConnector;
  using ClientPtr = std::shared_ptr<RoomClient>;
  struct Known {
    std::string key;
    ClientPtr client;
    SteadyTime used;
  };

  // The participant for a room, with the token's secrets filled in, joined. The error is for the
  // model.
  Task<Result<ClientPtr>> client_for(RoomRef room, Principal who, CallSecrets* secrets);
  Result<ClientPtr> client_at(const RoomRef& room, const Principal& who);
  Task<Result<std::vector<ToolDecl>>> wait_for_required(ClientPtr client, RoomRef room);
  Result<void> make_way();
  void plan_sweep();
  void sweep();
  static bool is_used(const Known& known) { return known.client.use_count() > 1; }
  void end(Known known);
  static Task<void> stop_client(ClientPtr client);

  const Deps deps_;
  RoomGate* gate_ = nullptr;
  std::list<Known> clients_;  // the one used last is first
  Timers::Id sweep_timer_ = {};
  TaskGroup ending_;  // last: tasks use everything above
};

}  // namespace errand::room
