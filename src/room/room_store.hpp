#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace errand::room {

struct StoredItem {
  std::uint64_t seq = 0;  // grows within its queue
  std::string body;       // JSON

  friend bool operator==(const StoredItem&, const StoredItem&) = default;
};

struct StoredQueue {
  std::string name;
  std::vector<StoredItem> items;  // by seq
};

// What a room keeps beyond its own life. Every call ends with its callback, on the room's home and
// after the call has returned, in the order of the calls. A room that is gone is called back no
// more. Changes are durable when they are reported.
class RoomStore {
 public:
  using Done = std::function<void(Result<void>)>;
  using Loaded = std::function<void(Result<std::vector<StoredQueue>>)>;

  virtual ~RoomStore() = default;
  virtual void load_queues(Loaded loaded) = 0;
  virtual void add_queue(std::string queue, Done done) = 0;
  // With its items.
  virtual void remove_queue(std::string queue, Done done) = 0;
  virtual void add_item(std::string queue, StoredItem item, Done done) = 0;
  virtual void remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) = 0;
};

}  // namespace errand::room
