#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/home.hpp"
#include "async/timers.hpp"
#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "room/access/token.hpp"
#include "room/calls.hpp"
#include "room/developer_logs.hpp"
#include "room/participant.hpp"
#include "room/queues.hpp"
#include "room/room_limits.hpp"
#include "room/room_store.hpp"
#include "room/storage.hpp"

namespace errand::room {

struct JoinParams {
  ParticipantToken token;
  ClientGeneration generation = ClientGeneration::other;
  std::string url = {};  // where the participant reaches the room
  Outlet& outlet;        // outlives the participant
  // The participant is disconnected for good after this time. Absent: never.
  std::optional<milliseconds> lives_for = {};
};

// A message of a participant that has been read: its header, and the message that it asks the room
// to send on, if that is what it asks.
struct ReadMessage {
  struct Sent {
    std::string to;  // empty: to all
    std::shared_ptr<const SharedMessage> push;
  };
  Message message;
  std::optional<json::Object> header;  // nothing: the header is not a JSON object
  std::size_t header_bytes = 0;        // of the text that it was
  // Of a call of messaging.send or messaging.broadcast, without its arguments in the header. The
  // error is for the caller.
  std::optional<Result<Sent>> sent = {};
};

// Takes no home: a long message takes longer to read than others should wait.
ReadMessage read_message(std::string_view participant, Message message);

// An agent that a participant calls into the room by its URL.
struct AgentCall {
  std::string name;  // which it is to have in the room
  std::string url;
  std::string room_url;  // where the caller reaches the room
  json::Object arguments;
  json::Object api;  // what the agent may do there
  Identity caller;
  std::string called_by;                    // see Identity
  std::optional<WallTime> expires_at = {};  // the agent's token is not good for longer
  std::string traceparent = {};             // the call's place in a trace; may be empty
};

// One room: its participants, the toolkits that they offer, and the calls between them. An actor:
// lives on one home, and never waits. Its state dies with it; clients bring it back when they
// connect again.
class Room final {
 public:
  // What becomes of a call of an agent.
  using AgentCalled = std::function<void(Result<void>)>;
  // Takes the address of a file, or why there is none. A room that is gone takes nothing.
  using FileUrl = std::function<void(Result<std::string>)>;

  struct Options {
    Home home;
    std::string name;
    std::string session_id;  // of this life of the room
    Timers& timers;
    const Clock& clock;
    json::SchemaCache& schemas;
    std::function<std::string()> make_id;  // unpredictable
    RoomLimits limits = {};
    RoomStore* store = nullptr;  // outlives the room; null: the room has no queues and no files
    // Makes an address from which anyone can read the file for a while. Calls back later. Empty:
    // there are no such addresses.
    std::function<void(FileToRead file, FileUrl done)> make_file_url = {};
    // Asks an agent to come into the room. Calls back later. Empty: agents cannot be called.
    std::function<void(AgentCall call, AgentCalled done)> call_agent = {};
    SpanSink* spans = nullptr;  // for calls; outlives the room. Null: none are made
  };

  explicit Room(Options options);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Whether a participant could join now. unavailable: the room is full or was closed, or the same
  // participant has too many connections.
  Result<void> can_join(const Identity& who) const;
  // Lets a participant in whose token is for this room, and tells its client that it is ready.
  // Returns the participant's id. Errors as of can_join().
  Result<std::string> join(JoinParams params);
  // A message of a participant, by whose id it was read. Every request is answered.
  void receive(std::string_view participant, ReadMessage read);
  void receive(std::string_view participant, Message message) {
    receive(participant, read_message(participant, std::move(message)));
  }
  void leave(std::string_view participant);

  // Sends all participants away for good: clients do not come back by themselves, and no client can
  // join any more.
  void close(std::string_view reason);
  // The same for participants whose token this key has signed; others can join.
  void evict_key(std::string_view key_id, std::string_view reason);

  struct Counts {
    std::size_t participants = 0;
    std::size_t toolkits = 0;
    std::size_t calls = 0;  // in flight
  };
  Counts counts() const;

  // Who is there, for people who look after the room.
  struct Listed {
    std::string id;
    std::string name;
    Role role = Role::user;
    std::vector<std::string> toolkits;
  };
  std::vector<Listed> participants() const;

 private:
  struct Request;
  struct WaitingList;

  Participant* find(std::string_view id);
  Participant* find_named(std::string_view name);
  void evict(std::string id, std::string_view reason);
  Error full() const;

  // room.cpp
  void receive_request(Participant& from, ReadMessage& read);
  void receive_answer(Participant& from, ReadMessage& read);
  void set_attributes(Participant& from, std::optional<json::Object> changed);
  void take_chunk(Request& request);
  // `make` is called now or later, while the participant is there.
  void send_large(Participant& to, std::function<Message()> make);

  // room_toolkits.cpp
  void add_toolkit(Request& request);
  void remove_toolkit(Request& request);
  Registration* registration_of(Participant& host, std::string_view toolkit);
  Participant* host_of(const Request& request, std::string_view toolkit);
  void forget_registered(Participant& host, const Registration& registration);
  std::optional<Content> too_much_registered(const Participant& from, const Toolkit& toolkit) const;
  void take_over(Participant& from, const std::string& name);
  void list_toolkits(Request& request);
  Message list_for(const Participant& lister, std::uint64_t request_id, const std::string& only);
  std::string list_text(const Participant& lister, const Participant* only) const;
  void forget_lists();
  void wait_for_participant(Request& request, std::string_view name, double timeout);
  void end_waiting(std::list<WaitingList>::iterator waiting);
  void joined(const Participant& participant);
  void invoke(Request& request);
  std::shared_ptr<CallSpan> span_of(const Request& request, std::string_view toolkit,
                                    std::string_view tool, const Participant* host) const;

  // room_builtins.cpp
  void serve(Request& request, std::string_view toolkit, std::string_view tool);
  void serve_messaging(Request& request, std::string_view tool);
  void enable_messaging(Request& request);
  void disable_messaging(Participant& from);
  Message presence_for(const Participant& to) const;
  void tell_presence(const Participant& from, std::string_view type, std::string_view message);
  void send_message(Request& request, std::string_view tool);
  void stream_messages(Request& request);
  void serve_queues(Request& request, std::string_view tool);
  void serve_developer(Request& request, std::string_view tool);
  void listen_to_logs(Request& request);

  // room_agents.cpp
  void call_agent(Request& request);
  Result<AgentCall> agent_call_of(Request& request);

  // room_storage.cpp
  void serve_storage(Request& request, std::string_view tool);
  void tell_of_file(const FileEvent& event);

  const Options options_;
  std::map<std::string, std::unique_ptr<Participant>, std::less<>> participants_;
  std::map<Identity, std::size_t> connections_;  // how many each participant has; never 0
  std::map<std::string, Participant*, std::less<>> public_toolkits_;  // the host, by name
  // All public toolkits, as seen by a participant that has none and may use all; empty: not made
  // yet.
  std::map<ClientGeneration, std::string> public_lists_;
  std::list<WaitingList> waiting_lists_;
  std::optional<Storage> storage_;  // outlives the calls that it serves
  DeveloperLogs logs_;              // the same
  Calls calls_;
  std::optional<Queues> queues_;
  std::size_t registered_bytes_ = 0;  // of public toolkits
  std::size_t presence_bytes_ = 0;    // of all participants
  std::shared_ptr<std::size_t> agent_calls_ = std::make_shared<std::size_t>(0);  // under way
  bool is_closed_ = false;
};

}  // namespace errand::room
