#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/timers.hpp"
#include "room/call_span.hpp"
#include "room/participant.hpp"
#include "room/room_limits.hpp"

namespace errand::room {

// A streamed call that the room itself serves. Lives until the call is over, whichever side ends
// it.
class LocalCall {
 public:
  virtual ~LocalCall() = default;
  // A chunk of the caller's input, the closing one included. May end the call.
  virtual void take_input(const Content& chunk) = 0;
};

// Takes the answer of a host in place of the caller. Lives as long as the caller's own call.
class AnswerTaker {
 public:
  virtual ~AnswerTaker() = default;
  virtual void take_answer(const Content& content) = 0;
  // control/close is the last one.
  virtual void take_output(const Content& chunk) = 0;
};

// The calls between the participants of one room: from the caller's request to the last chunk of
// the host's answer. Hosts know a call by a number of the room's making, which is also the id of
// the message that brings it.
class Calls final {
 public:
  Calls(const RoomLimits& limits, const Timers& timers) : limits_(limits), timers_(timers) {}
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  struct Begin {
    Participant& caller;
    std::uint64_t request_id = 0;
    std::string call_id = {};  // the caller's own; may be empty
    Participant& host;
    std::string toolkit;
    std::string tool;
    json::Object header = {};  // more members for the host
    Content arguments;
    bool takes_cancel = false;            // the host wants to know when the caller gives up
    std::shared_ptr<CallSpan> span = {};  // null: no spans
  };
  // Passes the call on to its host, and what of its input has come early.
  void begin(Begin begin);

  // The same for a call that the room makes for the caller, whose answer goes to `taker`. Returns
  // the call's number; empty if too many calls are in flight.
  std::optional<std::uint64_t> begin_for(const std::shared_ptr<AnswerTaker>& taker, Begin begin);
  // What hosts know a call by.
  static std::string host_id(std::uint64_t number);
  // A chunk of input for a call that the room has made. The closing one ends the call.
  void pass_on(std::uint64_t number, Content chunk);

  // The way from a local call to its caller. Does nothing once the call is over.
  class Reply final {
   public:
    Reply(Calls& calls, std::uint64_t number) : calls_(&calls), number_(number) {}
    // The answer: control/open before chunks, or an error.
    void answer(Content content) const;
    // A chunk of output; control/close ends the call.
    void output(Content chunk) const;
    // Ends the call with an error: as its answer, or as a chunk before control/close.
    void fail(const Content& error) const;

   private:
    Calls* calls_;
    std::uint64_t number_;
  };
  struct BeginLocal {
    Participant& caller;
    std::uint64_t request_id = 0;
    std::string call_id;
    std::string toolkit;
    std::string tool;
    std::shared_ptr<CallSpan> span = {};  // null: no spans
  };
  using MakeLocal = std::function<std::shared_ptr<LocalCall>(Reply)>;
  // Begins a call with streamed input that the room serves, and passes on what of its input has
  // come early.
  void begin_local(BeginLocal begin, const MakeLocal& make);

  // A chunk of the caller's input. A close with kCallerGone gives the call up, with or without
  // streamed input: the call is over for the caller, and its late answer is dropped.
  void take_input(Participant& caller, std::string_view call_id, Content chunk);
  // The host's answer. Nothing if it could not be read.
  void take_answer(Participant& host, std::uint64_t number, std::optional<Content> content);
  // A chunk of the host's output, or progress. Nothing if it could not be read.
  void take_output(Participant& host, std::string_view call_id, std::optional<Content> chunk);

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
    Participant* host;  // null: the room itself
    std::string toolkit;
    std::string tool;
    std::shared_ptr<LocalCall> local = {};                 // while the room serves the call
    std::optional<std::weak_ptr<AnswerTaker>> taker = {};  // of a call that the room has made
    Phase phase = Phase::waiting;
    bool input_open = false;
    bool takes_cancel = false;
    std::shared_ptr<CallSpan> span = {};
  };
  using Map = std::map<std::uint64_t, Call>;

  std::uint64_t pass_call(Begin begin);
  // Why the caller may not begin another call; nothing if it may.
  std::optional<Content> refuse(const Participant& caller, const std::string& call_id);
  void take_chunk(std::uint64_t number, Content chunk);
  // May end the call.
  void pass_input(std::uint64_t number, Content chunk);
  void give_up(std::uint64_t number);
  static void pass_answer(const Call& call, Content content);
  static void pass_output(const Call& call, Content chunk);
  void keep_early(Participant& caller, std::string_view call_id, Content chunk);
  void pass_early(std::uint64_t number);
  Map::iterator find(const Participant* host, std::uint64_t number);
  void give_answer(Map::iterator call, Content answer);
  void give_output(Map::iterator call, Content chunk);
  void end(Map::iterator call);
  void erase(Map::iterator call);
  template <class Matches>
  std::vector<std::uint64_t> numbers_of(const Matches& matches) const;
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
