#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "async/interrupt.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/result.hpp"
#include "room/client/connection.hpp"
#include "room/client/hosted_call.hpp"
#include "room/client/room_call.hpp"

namespace errand::room {

class WaitingRequest;

// A toolkit as a list shows it.
struct ListedToolkit {
  std::string name;
  std::string participant_id;
  json::Object members;  // "title", "description", "tools", "rules", "annotations" ...
};

// Whose toolkits a list has: all participants', or one participant's, found by id or by name.
struct ListToolkits {
  std::string participant_id = {};
  std::string participant_name = {};
};

// A participant of the room, as far as the room tells.
struct Peer {
  std::string id;
  std::string role = "unknown";
  json::Object attributes = {};

  // The name of its token; empty if it is not known.
  std::string name() const;
  bool is_known() const { return !attributes.empty(); }
};

struct PeerMessage {
  Peer from;
  std::string type;
  json::Object message;
  std::string attachment = {};
};

// Every bound of a client, with what happens at it.
struct RoomClientLimits {
  std::size_t requests_max = 1'000;   // in flight: unavailable
  std::size_t calls_taken_max = 256;  // in flight: the caller gets 1006
  std::size_t peers_max = 10'000;     // further participants stay unknown
  milliseconds greeting_max{30'000};  // until the room is ready: connects again
  milliseconds pause_first{500};      // before connecting again, doubled each time ...
  milliseconds pause_max{30'000};     // ... up to this; each is shortened at random by a half
};

// A participant of a room: joins it, and joins it again whenever the connection is lost, with all
// its toolkits. Lives on one home; must be stopped before it is destroyed.
class RoomClient final {
 public:
  struct Deps {
    Executor home;
    Timers& timers;  // outlive the client
    TaskGroup::OnBug on_bug;
  };
  struct Options {
    std::shared_ptr<Connector> connector;
    bool wants_messages = false;  // and shows itself to others that want them
    RoomClientLimits limits = {};
    // Called on the home. They must not stop the client.
    std::function<void(const PeerMessage&)> on_message = {};
    // All that the room tells without being asked, messages included.
    std::function<void(const Message&)> on_event = {};
  };

  RoomClient(Deps deps, Options options);
  ~RoomClient();
  RoomClient(const RoomClient&) = delete;
  RoomClient& operator=(const RoomClient&) = delete;

  void start();
  Task<void> stop();

  // Returns once the room is joined. timeout: not by the deadline; the message says what the last
  // attempt met. Else the error after which the client does not try again.
  Task<Result<void>> joined(SteadyTime deadline);
  bool is_over() const { return phase_ == Phase::over; }  // and does not try again
  const std::string& participant_id() const { return participant_id_; }
  const std::string& room_name() const { return room_name_; }

  // The answer to a request. unavailable: there is no connection. outcome_unknown: it was lost
  // meanwhile. Else what the room's error means; its reason is "room_CODE".
  Task<Result<Content>> request(std::string type, json::Object header, std::string bytes = "");

  // Offers a toolkit to the room, now and after each reconnection, until unhost(). Fails if the
  // room refuses it now.
  Task<Result<std::uint64_t>> host(std::shared_ptr<HostedToolkit> toolkit);
  // The room sends no more calls; running calls go on.
  Task<Result<void>> unhost(std::uint64_t handle);

  // Of all participants, or of one.
  Task<Result<std::vector<ListedToolkit>>> list(ListToolkits which = {});

  // Begins a call. unavailable: there is no connection, or too much is under way.
  Result<RoomCallPtr> invoke(InvokeParams params);
  // A call with one answer; an error content becomes an Error.
  Task<Result<Content>> call(InvokeParams params);

  struct SendParams {
    std::string to = {};  // a participant's id; empty: all that want messages
    std::string type;
    json::Object message;
    std::string attachment = {};
  };
  Task<Result<void>> send(SendParams params);

  // A participant that the room has announced; for any other id, a participant with only the id.
  Peer peer(std::string_view id) const;
  const std::map<std::string, Peer, std::less<>>& peers() const { return peers_; }

 private:
  friend class RoomCall;
  enum class Phase : std::uint8_t { apart, greeted, joined, over };
  struct Hosted {
    std::shared_ptr<HostedToolkit> toolkit;
    std::string name;
    std::string registration = {};  // empty: the room does not know it
  };
  struct Taken {
    HostedCallPtr call;
    TaskGroup::Ticket task = 0;
  };

  // room_client.cpp
  Task<void> live();
  Task<Error> converse(std::shared_ptr<Connection> connection);
  Task<void> settle(std::shared_ptr<Connection> connection);
  Task<Result<void>> register_one(std::uint64_t handle);
  Task<void> register_again(std::uint64_t handle, std::shared_ptr<Connection> connection);
  void lose(const Error& why);
  void end_for_good(Error why);
  void changed();
  Error not_connected() const;

  // room_receive.cpp
  void receive(Message& message);
  void take_response(Message& message);
  void take_chunk(Message& message);
  void take_call(Message& message, std::string_view toolkit);
  void take_call_chunk(const Message& message);
  void take_message(const json::Object& header, const std::string& attachment);
  void learn(const json::Object& peer);
  Task<void> serve(HostedCallPtr call, std::shared_ptr<HostedToolkit> toolkit);

  // For RoomCall.
  void give_up(RoomCall& call);
  Task<Result<Content>> send_chunk(std::string call_id, Content chunk);
  void post_chunk(const std::string& call_id, Content chunk);

  Result<void> may_ask() const;
  std::uint64_t post(std::string_view type, const json::Object& header, std::string bytes);

  const Deps deps_;
  const Options options_;
  Phase phase_ = Phase::apart;
  bool is_stopping_ = false;
  Interrupt leaving_;
  std::shared_ptr<Connection> connection_;
  bool is_connected_ = false;  // "connected" has come
  bool is_ready_ = false;      // "room_ready" has come
  std::string participant_id_;
  std::string room_name_;
  std::optional<Error> last_error_;
  std::uint64_t last_id_ = 0;
  std::uint64_t last_handle_ = 0;
  std::uint64_t last_call_ = 0;
  std::map<std::uint64_t, WaitingRequest*> waiting_;     // by the ids of the requests
  std::map<std::uint64_t, RoomCall*> answers_due_;       // calls, by the ids of their requests
  std::map<std::string, RoomCall*, std::less<>> calls_;  // by their own ids
  std::map<std::uint64_t, Hosted> hosted_;               // by handle
  std::map<std::string, Taken, std::less<>> taken_;      // by the room's ids of calls
  std::map<std::string, Peer, std::less<>> peers_;
  std::set<Wakeup*> joining_;  // of tasks that wait for a change of phase
  TaskGroup living_;           // the connection, whose task ends by itself
  TaskGroup tasks_;            // last: tasks use everything above
};

// What an error content means.
Error error_of(const json::Object& header);

}  // namespace errand::room
