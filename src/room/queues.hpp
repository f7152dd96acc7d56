#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "room/content.hpp"
#include "room/grants.hpp"
#include "room/room_limits.hpp"
#include "room/room_store.hpp"

namespace errand::room {

// A call of the toolkit `queues`.
struct QueueCall {
  const void* caller = nullptr;        // whoever it is, for leave()
  const QueuesGrant* grant = nullptr;  // lives as long as the caller
  std::string tool;
  json::Value arguments;
  std::function<void(const Content&)> answer;  // does nothing once the caller has left
};

// The queues of one room. A message is durable before its sender is answered, and goes to one
// receiver, first come first served. It is removed after it was handed over: a crash between the
// two delivers it again.
class Queues final {
 public:
  // Both outlive this.
  Queues(const RoomLimits& limits, RoomStore& store) : limits_(limits), store_(store) {}

  void serve(QueueCall call);
  // The caller has left: nothing is answered to it, and no message is given to it.
  void leave(const void* caller);

 private:
  struct Queue {
    std::deque<StoredItem> items;
    std::deque<QueueCall> receivers;  // only while there are no items
    std::uint64_t last_seq = 0;
  };
  using Map = std::map<std::string, Queue, std::less<>>;

  void load();
  void loaded(Result<std::vector<StoredQueue>> queues);
  void run(QueueCall call);
  void list(const QueueCall& call) const;
  void open(const QueueCall& call, const std::string& name);
  void send(const QueueCall& call, const std::string& name);
  void receive(QueueCall call, const std::string& name);
  void drain(const QueueCall& call, const std::string& name);
  void close(const QueueCall& call, const std::string& name);
  // The queue, made if the call asks for it; null after the call was refused.
  Queue* queue_of(const QueueCall& call, const std::string& name);
  void arrived(const std::string& name, StoredItem item);
  void give(const QueueCall& call, const std::string& name, const StoredItem& item);
  // Answers `content` once the change is durable, or why it is not.
  RoomStore::Done answer_when_done(const QueueCall& call, Content content) const;

  const RoomLimits& limits_;
  RoomStore& store_;
  enum class State : std::uint8_t { unread, reading, ready } state_ = State::unread;
  std::vector<QueueCall> waiting_;  // until the queues are read
  Map queues_;
};

}  // namespace errand::room
