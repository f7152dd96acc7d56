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

// What one room keeps, as records of the store: a record for each queue, message and file, and for
// each part of a file's content. Does one thing after the other. There is one for a room's id at a
// time, also when the room itself goes and comes back. Lives on the engine's home.
class RecordRoomStore final : public room::RoomStore,
                              public std::enable_shared_from_this<RecordRoomStore> {
 public:
  // Bounds of the orders under way. A call beyond them ends with unavailable, reason "busy".
  static constexpr std::size_t kOrdersMax = 10'000;
  static constexpr std::size_t kOrderBytesMax = 64U * 1024 * 1024;

  // `room` is the id of the room's record. `store` and `tasks` outlive this.
  RecordRoomStore(Store& store, TaskGroup& tasks, WorkspaceSlug workspace, std::string room);

  void load_queues(Loaded loaded) override;
  void add_queue(std::string queue, Done done) override;
  void remove_queue(std::string queue, Done done) override;
  void add_item(std::string queue, room::StoredItem item, room::WithQueue with_queue,
                Done done) override;
  void remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) override;
  void load_files(LoadedFiles loaded) override;
  void begin_content(std::string content, Done done) override;
  void add_part(std::string content, std::uint64_t number, std::string bytes, Done done) override;
  void read_part(std::string content, std::uint64_t number, LoadedPart loaded) override;
  void change_files(room::FileChanges changes, Done done) override;
  void drop_content(std::string content) override;

  // A room uses this from now on. Orders of an earlier room are still carried out, before the
  // orders of this one, but without a callback.
  void attach() { asker_ = std::make_shared<char>(); }
  void detach() { asker_.reset(); }

  // Removes all that the room keeps, once everything else is done.
  Task<Result<void>> remove_all();

  // For callers outside of the room. not_found: there is no such file, or part.
  Task<Result<room::StoredFile>> find_file(std::string path);
  Task<Result<std::string>> find_part(std::string content, std::uint64_t number);

 private:
  // One of the calls above.
  struct Order {
    enum class What : std::uint8_t {
      load_queues,
      load_files,
      read_part,
      change,
      remove_queue,
      drop_content,
      remove_all
    };
    What what = What::change;
    std::vector<RecordChange> changes = {};
    std::string name = {};  // of the queue or the content
    std::uint64_t number = 0;
    Done done = {};
    Loaded loaded = {};
    LoadedFiles loaded_files = {};
    LoadedPart loaded_part = {};
    std::weak_ptr<char> asker = {};  // gone: there is no callback
    std::size_t bytes = 0;
  };

  void enqueue(Order order);
  void change(std::vector<RecordChange> changes, Done done);
  static Task<void> work(std::shared_ptr<RecordRoomStore> self);
  static Task<void> refuse(std::shared_ptr<RecordRoomStore> self, Order order);
  static void call_back(const Order& order, const Error& error);
  Task<void> carry_out(Order order);
  Task<Result<void>> make_changes(Order order);
  Task<Result<std::vector<room::StoredQueue>>> read_queues();
  Task<Result<std::vector<room::StoredFile>>> read_files();
  Task<Result<void>> drop_leftovers();
  Task<Result<void>> drop(std::string content);
  Task<Result<void>> apply(std::vector<RecordChange> changes);
  Task<Result<void>> remove_below(std::string kind, std::string prefix, std::size_t page);
  Task<Result<std::vector<Record>>> list_below(std::string kind, std::string after,
                                               std::size_t page);

  RecordKey key_of(std::string_view kind, const std::string& rest) const;
  RecordKey item_key(const std::string& queue, std::uint64_t seq) const;
  RecordKey part_key(const std::string& content, std::uint64_t number) const;

  Store& store_;
  TaskGroup& tasks_;
  const WorkspaceSlug workspace_;
  const std::string prefix_;  // of the ids of all records
  std::deque<Order> orders_;
  std::size_t order_bytes_ = 0;
  bool is_working_ = false;
  bool has_dropped_leftovers_ = false;
  std::shared_ptr<char> asker_ = std::make_shared<char>();
  const std::shared_ptr<char> self_ = std::make_shared<char>();  // asks for itself
};

}  // namespace errand::server
