#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "room/access/grants.hpp"
#include "room/room_limits.hpp"
#include "room/room_store.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

// A call of the toolkit `queues`.
struct QueueCall {
  const void* caller = nullptr;        // the participant, for leave()
  const QueuesGrant* grant = nullptr;  // lives as long as the caller
  std::string tool;
  json::Value arguments;
  // Both do nothing once the caller has left. `written` is called later, once the caller's
  // connection has taken the answer, and never after leave().
  std::function<void(const Content&)> answer;
  std::function<void(const Content&, std::function<void()> written)> give;
};

// The queues of one room. A message is durable before its sender is answered, and goes to one
// receiver, first come first served. It stays in the store until the receiver's connection has
// taken it: a message for a connection that ends before goes back to its queue, and a crash
// delivers it again.
class Queues final {
 public:
  // Both outlive this.
  Queues(const RoomLimits& limits, RoomStore& store) : limits_(limits), store_(store) {}

  void serve(QueueCall call);
  // The caller has left: nothing is answered to it, and no message is given to it.
  void leave(const void* caller);

 private:
  struct Queue {
    std::uint64_t life = 0;  // a queue that was closed and made again has another one
    std::deque<StoredItem> items;
    std::deque<QueueCall> receivers;  // only while there are no items
    std::uint64_t last_seq = 0;
    bool is_stored = false;
    std::size_t storing = 0;  // changes under way that store the queue itself
  };
  using Map = std::map<std::string, Queue, std::less<>>;

  // A message on its way to a receiver.
  struct Given {
    const void* caller;
    std::string queue;
    std::uint64_t life;
    StoredItem item;
  };

  void load();
  void loaded(Result<std::vector<StoredQueue>> queues);
  void run(QueueCall call);
  void list(const QueueCall& call) const;
  void open(const QueueCall& call, const std::string& name);
  void send(const QueueCall& call, const std::string& name);
  void receive(QueueCall call, const std::string& name);
  void drain(const QueueCall& call, const std::string& name);
  void close(const QueueCall& call, const std::string& name);
  // The queue, made in memory if the call asks for it; null after the call was refused.
  Queue* queue_of(const QueueCall& call, const std::string& name);
  Queue* make_queue(const QueueCall& call, const std::string& name);
  Queue* find(const std::string& name, std::uint64_t life);
  void store_queue(const std::string& name, Queue& queue, RoomStore::Done done);
  // The outcome of a change that was to store the queue, too. A queue that no change has stored
  // goes, and with it all waits for its messages.
  void stored_queue(const std::string& name, std::uint64_t life, const Result<void>& done);
  void arrived(const std::string& name, std::uint64_t life, StoredItem item);
  void give(const QueueCall& call, const std::string& name, std::uint64_t life, StoredItem item);
  void taken(std::uint64_t number);
  void serve_receivers(const std::string& name, Queue& queue);
  // Whether another change may begin; else the call has been refused.
  bool admit_change(const QueueCall& call);
  // Counts a change until it is done.
  RoomStore::Done counted(RoomStore::Done done);
  // Answers `content` once the change is durable, or why it is not.
  static RoomStore::Done answer_when_done(const QueueCall& call, Content content);

  const RoomLimits& limits_;
  RoomStore& store_;
  enum class State : std::uint8_t { unread, reading, ready } state_ = State::unread;
  std::vector<QueueCall> waiting_;  // until the queues are read
  Map queues_;
  std::map<std::uint64_t, Given> given_;
  std::size_t bytes_ = 0;    // of all messages that are kept
  std::size_t changes_ = 0;  // under way
  std::uint64_t last_given_ = 0;
  std::uint64_t last_life_ = 0;
};

}  // namespace errand::room
