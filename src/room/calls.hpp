#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "async/timers.hpp"
#include "room/participant.hpp"
#include "room/room_limits.hpp"

namespace errand::room {

// The calls between the participants of one room: from the caller's request to the last chunk of
// the host's answer. Hosts know a call by a number of the room's making, which is also the id of
// the message that brings it.
class Calls final {
 public:
  Calls(const RoomLimits& limits, const Timers& timers) : limits_(limits), timers_(timers) {}

  struct Begin {
    Participant& caller;
    std::uint64_t request_id = 0;
    std::string call_id = {};  // the caller's own; may be empty
    Participant& host;
    std::string toolkit;
    std::string tool;
    json::Object header = {};  // more members for the host
    Content arguments;
  };
  // Passes the call on to its host, and what of its input has come early.
  void begin(Begin begin);

  // A chunk of the caller's input.
  void take_input(Participant& caller, std::string_view call_id, Content chunk);
  // The host's answer. `content` is null if it could not be read.
  void take_answer(Participant& host, std::uint64_t number, const Content* content);
  // A chunk of the host's output, or progress. `chunk` is null if it could not be read.
  void take_output(Participant& host, std::string_view call_id, const Content* chunk);

  // The participant is about to leave: ends all calls that it takes part in.
  void leave(const Participant& participant);
  // Another connection has taken the toolkit over: ends its calls.
  void lose_toolkit(const Participant& host, std::string_view toolkit);

  std::size_t in_flight() const { return calls_.size() - answered_.size(); }

 private:
  enum class Phase : std::uint8_t {
    waiting,    // for the answer
    streaming,  // the answer is a stream that is open
    answered,   // over, but for progress that is late
  };
  struct Call {
    Participant* caller;
    std::uint64_t request_id;
    std::string call_id;
    Participant* host;
    std::string toolkit;
    std::string tool;
    Phase phase = Phase::waiting;
    bool input_open = false;
  };
  using Map = std::map<std::uint64_t, Call>;

  void pass_input(std::uint64_t number, Call& call, const Content& chunk);
  static void pass_output(const Call& call, const Content& chunk);
  void keep_early(Participant& caller, std::string_view call_id, Content chunk);
  void pass_early(std::uint64_t number, Call& call);
  Map::iterator find(const Participant& host, std::uint64_t number);
  void end(Map::iterator call);
  Map::iterator erase(Map::iterator call);
  static void lose_host(const Call& call, std::string_view why);
  void forget_answered();

  const RoomLimits& limits_;
  const Timers& timers_;
  Map calls_;
  // By the caller and its own id.
  std::map<std::pair<const Participant*, std::string>, std::uint64_t> by_call_id_;
  std::deque<std::pair<SteadyTime, std::uint64_t>> answered_;  // the oldest first
  std::uint64_t last_number_ = 0;
};

}  // namespace errand::room
