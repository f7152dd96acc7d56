#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "async/task_group.hpp"
#include "room/room_store.hpp"
#include "run/ids.hpp"
#include "store/store.hpp"

namespace errand::server {

// What one room keeps, as records of the store: a record for each queue and for each message. Does
// one thing after the other. Lives on the engine's home.
class RecordRoomStore final : public room::RoomStore,
                              public std::enable_shared_from_this<RecordRoomStore> {
 public:
  // `room` is the id of the room's record. `store` and `tasks` outlive this.
  RecordRoomStore(Store& store, TaskGroup& tasks, WorkspaceSlug workspace, std::string room);

  void load_queues(Loaded loaded) override;
  void add_queue(std::string queue, Done done) override;
  void remove_queue(std::string queue, Done done) override;
  void add_item(std::string queue, room::StoredItem item, Done done) override;
  void remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) override;

  // The room is gone: nobody is called back any more. What was asked for is still done.
  void detach() { is_detached_ = true; }

  // Removes all that the room keeps.
  Task<Result<void>> remove_all();

 private:
  // One of the calls above.
  struct Order {
    enum class What : std::uint8_t { load, add, remove_queue, remove_items } what = What::load;
    std::vector<RecordChange> changes = {};
    std::string queue = {};
    Done done = {};
    Loaded loaded = {};
  };

  void enqueue(Order order);
  static Task<void> work(std::shared_ptr<RecordRoomStore> self);
  Task<void> carry_out(Order order);
  Task<Result<std::vector<room::StoredQueue>>> read_queues();
  Task<Result<void>> apply(std::vector<RecordChange> changes);
  Task<Result<void>> remove_below(std::string kind, std::string prefix);
  Task<Result<std::vector<Record>>> list_below(std::string kind, std::string after);

  RecordKey queue_key(const std::string& queue) const;
  RecordKey item_key(const std::string& queue, std::uint64_t seq) const;
  std::string item_prefix(const std::string& queue) const;

  Store& store_;
  TaskGroup& tasks_;
  const WorkspaceSlug workspace_;
  const std::string prefix_;  // of the ids of all records
  std::deque<Order> orders_;
  bool is_working_ = false;
  bool is_detached_ = false;
};

}  // namespace errand::server
