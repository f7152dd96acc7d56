#include "server/rooms/record_room_store.hpp"

#include <map>
#include <optional>
#include <utility>

#include "async/completion.hpp"
#include "base/text.hpp"
#include "server/rooms/room_records.hpp"

namespace errand::server {

using room::StoredFile;
using room::StoredQueue;
using namespace room_records;

RecordRoomStore::RecordRoomStore(Store& store, TaskGroup& tasks, WorkspaceSlug workspace,
                                 std::string room)
    : store_(store), tasks_(tasks), workspace_(workspace), prefix_(cat(room, "/")) {}

RecordKey RecordRoomStore::key_of(std::string_view kind, const std::string& rest) const {
  return {.workspace = workspace_, .kind = std::string(kind), .id = cat(prefix_, rest)};
}

RecordKey RecordRoomStore::item_key(const std::string& queue, std::uint64_t seq) const {
  return key_of(kItemKind, cat(percent_encode(queue), "/", number_text(seq)));
}

RecordKey RecordRoomStore::part_key(const std::string& content, std::uint64_t number) const {
  return key_of(kPartKind, cat(content, "/", number_text(number)));
}

void RecordRoomStore::load_queues(Loaded loaded) {
  enqueue({.what = Order::What::load_queues, .loaded = std::move(loaded)});
}

void RecordRoomStore::add_queue(std::string queue, Done done) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(kQueueKind, percent_encode(queue)), .body = "{}"});
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::remove_queue(std::string queue, Done done) {
  enqueue(
      {.what = Order::What::remove_queue, .name = percent_encode(queue), .done = std::move(done)});
}

void RecordRoomStore::add_item(std::string queue, room::StoredItem item, room::WithQueue with_queue,
                               Done done) {
  std::vector<RecordChange> changes;
  if (with_queue == room::WithQueue::yes) {
    changes.push_back({.key = key_of(kQueueKind, percent_encode(queue)), .body = "{}"});
  }
  changes.push_back({.key = item_key(queue, item.seq), .body = std::move(item.body)});
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) {
  std::vector<RecordChange> changes;
  for (std::uint64_t seq : seqs) {
    changes.push_back({.key = item_key(queue, seq), .body = std::nullopt});
  }
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::load_files(LoadedFiles loaded) {
  enqueue({.what = Order::What::load_files, .loaded_files = std::move(loaded)});
}

void RecordRoomStore::begin_content(std::string content, Done done) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(kLooseKind, content), .body = "{}"});
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::add_part(std::string content, std::uint64_t number, std::string bytes,
                               Done done) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = part_key(content, number), .body = std::move(bytes)});
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::read_part(std::string content, std::uint64_t number, LoadedPart loaded) {
  enqueue({.what = Order::What::read_part,
           .name = std::move(content),
           .number = number,
           .loaded_part = std::move(loaded)});
}

void RecordRoomStore::change_files(room::FileChanges changed, Done done) {
  std::vector<RecordChange> changes;
  for (const std::string& path : changed.removed) {
    changes.push_back({.key = key_of(kFileKind, percent_encode(path)), .body = std::nullopt});
  }
  for (const StoredFile& file : changed.put) {
    changes.push_back({.key = key_of(kFileKind, percent_encode(file.path)), .body = body_of(file)});
    changes.push_back({.key = key_of(kLooseKind, file.content), .body = std::nullopt});
  }
  for (const std::string& content : changed.dropped) {
    changes.push_back({.key = key_of(kLooseKind, content), .body = "{}"});
  }
  change(std::move(changes), std::move(done));
}

void RecordRoomStore::drop_content(std::string content) {
  enqueue({.what = Order::What::drop_content,
           .name = std::move(content),
           .done = [](const Result<void>&) {}});
}

void RecordRoomStore::change(std::vector<RecordChange> changes, Done done) {
  std::size_t bytes = 0;
  for (const RecordChange& one : changes)
    bytes += one.key.id.size() + (one.body ? one.body->size() : 0);
  enqueue({.changes = std::move(changes), .done = std::move(done), .bytes = bytes});
}

void RecordRoomStore::enqueue(Order order) {
  if (order.what != Order::What::remove_all) order.asker = asker_;
  if (orders_.size() >= kOrdersMax || order_bytes_ + order.bytes > kOrderBytesMax) {
    tasks_.spawn("room.store.refuse", refuse(shared_from_this(), std::move(order)));
    return;
  }
  order_bytes_ += order.bytes;
  orders_.push_back(std::move(order));
  if (std::exchange(is_working_, true)) return;
  tasks_.spawn("room.store", work(shared_from_this()));
}

Task<void> RecordRoomStore::work(std::shared_ptr<RecordRoomStore> self) {
  while (!self->orders_.empty()) {
    Order order = std::move(self->orders_.front());
    self->orders_.pop_front();
    const std::size_t bytes = order.bytes;
    co_await self->carry_out(std::move(order));
    self->order_bytes_ -= bytes;
  }
  self->is_working_ = false;
}

Task<void> RecordRoomStore::refuse(std::shared_ptr<RecordRoomStore>, Order order) {
  if (!order.asker.expired()) {
    call_back(order, Error(ErrorCode::unavailable, "the room's store is busy").reason("busy"));
  }
  co_return;
}

void RecordRoomStore::call_back(const Order& order, const Error& error) {
  if (order.loaded) order.loaded(error);
  if (order.loaded_files) order.loaded_files(error);
  if (order.loaded_part) order.loaded_part(error);
  if (order.done) order.done(error);
}

Task<void> RecordRoomStore::carry_out(Order order) {
  const std::weak_ptr<char> asker = order.asker;
  if (order.what == Order::What::load_queues) {
    auto queues = co_await read_queues();
    if (!asker.expired()) order.loaded(std::move(queues));
  } else if (order.what == Order::What::load_files) {
    auto files = co_await read_files();
    if (!asker.expired()) order.loaded_files(std::move(files));
  } else if (order.what == Order::What::read_part) {
    auto part = co_await find_part(order.name, order.number);
    if (!asker.expired()) order.loaded_part(std::move(part));
  } else {
    Done done = std::move(order.done);
    auto made = co_await make_changes(std::move(order));
    if (!asker.expired()) done(std::move(made));
  }
}

Task<Result<void>> RecordRoomStore::make_changes(Order order) {
  if (order.what == Order::What::drop_content) co_return co_await drop(std::move(order.name));
  if (order.what == Order::What::remove_all) {
    for (const KindOfRecord& one : kAllKinds) {
      ERRAND_CO_CHECK(co_await remove_below(std::string(one.kind), prefix_, one.page));
    }
    co_return Result<void>();
  }
  if (order.what == Order::What::remove_queue) {
    ERRAND_CO_CHECK(co_await remove_below(std::string(kItemKind), cat(prefix_, order.name, "/"),
                                          kSmallRecordsPage));
    order.changes.push_back({.key = key_of(kQueueKind, order.name), .body = std::nullopt});
  }
  co_return co_await apply(std::move(order.changes));
}

Task<Result<void>> RecordRoomStore::apply(std::vector<RecordChange> changes) {
  if (changes.empty()) co_return Result<void>();
  auto outcome = co_await store_.change_records(std::move(changes));
  if (!outcome) co_return std::move(outcome).error();
  co_return Result<void>();
}

// A page of the records whose ids begin with the prefix.
Task<Result<std::vector<Record>>> RecordRoomStore::list_below(std::string kind, std::string after,
                                                              std::size_t page) {
  ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = workspace_,
                                                            .kind = std::move(kind),
                                                            .after = std::move(after),
                                                            .limit = page}));
  std::erase_if(records, [&](const Record& one) { return !one.key.id.starts_with(prefix_); });
  co_return records;
}

Task<Result<void>> RecordRoomStore::remove_below(std::string kind, std::string prefix,
                                                 std::size_t page) {
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await list_below(kind, prefix, page));
    std::vector<RecordChange> changes;
    for (const Record& record : records) {
      if (!record.key.id.starts_with(prefix)) break;
      changes.push_back({.key = record.key, .body = std::nullopt});
    }
    if (changes.empty()) co_return Result<void>();
    ERRAND_CO_CHECK(co_await apply(std::move(changes)));
  }
}

Task<Result<std::vector<StoredQueue>>> RecordRoomStore::read_queues() {
  std::map<std::string, StoredQueue> queues;
  std::string after = prefix_;
  for (;;) {
    ERRAND_CO_TRY(auto records,
                  co_await list_below(std::string(kQueueKind), after, kSmallRecordsPage));
    if (records.empty()) break;
    for (const Record& record : records) {
      auto name = percent_decode(record.key.id.substr(prefix_.size()));
      if (name) queues[*name].name = *name;
    }
    after = records.back().key.id;
  }
  after = prefix_;
  for (;;) {
    ERRAND_CO_TRY(auto records,
                  co_await list_below(std::string(kItemKind), after, kSmallRecordsPage));
    if (records.empty()) break;
    for (Record& record : records) {
      auto id = parse_item_id(record.key.id.substr(prefix_.size()));
      if (!id || !queues.contains(id->queue)) continue;
      queues[id->queue].items.push_back({.seq = id->seq, .body = std::move(record.body)});
    }
    after = records.back().key.id;
  }
  std::vector<StoredQueue> all;
  for (auto& [name, queue] : queues) all.push_back(std::move(queue));
  co_return all;
}

Task<Result<std::vector<StoredFile>>> RecordRoomStore::read_files() {
  ERRAND_CO_CHECK(co_await drop_leftovers());
  std::vector<StoredFile> files;
  std::string after = prefix_;
  for (;;) {
    ERRAND_CO_TRY(auto records,
                  co_await list_below(std::string(kFileKind), after, kSmallRecordsPage));
    if (records.empty()) break;
    for (const Record& record : records) {
      auto path = percent_decode(record.key.id.substr(prefix_.size()));
      if (!path) continue;
      ERRAND_CO_TRY(auto file, parse_file(std::move(*path), record.body));
      files.push_back(std::move(file));
    }
    after = records.back().key.id;
  }
  co_return files;
}

// Removes contents that an earlier process stored and that no file names. Later contents belong to
// uploads that are under way.
Task<Result<void>> RecordRoomStore::drop_leftovers() {
  if (has_dropped_leftovers_) co_return Result<void>();
  for (;;) {
    ERRAND_CO_TRY(auto records,
                  co_await list_below(std::string(kLooseKind), prefix_, kSmallRecordsPage));
    if (records.empty()) break;
    for (const Record& record : records) {
      ERRAND_CO_CHECK(co_await drop(record.key.id.substr(prefix_.size())));
    }
  }
  has_dropped_leftovers_ = true;
  co_return Result<void>();
}

// Removes a content unless a file names it.
Task<Result<void>> RecordRoomStore::drop(std::string content) {
  auto loose = co_await store_.find_record(key_of(kLooseKind, content));
  if (!loose && loose.error().code() == ErrorCode::not_found) co_return Result<void>();
  if (!loose) co_return std::move(loose).error();
  ERRAND_CO_CHECK(
      co_await remove_below(std::string(kPartKind), cat(prefix_, content, "/"), kPartsPage));
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(kLooseKind, content), .body = std::nullopt});
  co_return co_await apply(std::move(changes));
}

Task<Result<StoredFile>> RecordRoomStore::find_file(std::string path) {
  ERRAND_CO_TRY(auto record, co_await store_.find_record(key_of(kFileKind, percent_encode(path))));
  co_return parse_file(std::move(path), record.body);
}

Task<Result<std::string>> RecordRoomStore::find_part(std::string content, std::uint64_t number) {
  ERRAND_CO_TRY(auto record, co_await store_.find_record(part_key(content, number)));
  co_return std::move(record.body);
}

Task<Result<void>> RecordRoomStore::remove_all() {
  auto self = shared_from_this();
  co_return co_await await_completion<Result<void>>([self](Completion<Result<void>> done) {
    self->enqueue({.what = Order::What::remove_all,
                   .done = std::move(done),
                   .asker = std::weak_ptr<char>(self->self_)});
  });
}

}  // namespace errand::server
