#include "server/rooms/record_room_store.hpp"

#include <charconv>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kQueueKind = "room_queue";
constexpr std::string_view kItemKind = "room_queue_item";
constexpr std::size_t kPage = 500;

// In order, as text, too.
std::string seq_text(std::uint64_t seq) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(seq));
  return digits;
}

// The queue's name, and the seq of a message behind it, of a record's id without its prefix.
struct ItemId {
  std::string queue;
  std::uint64_t seq = 0;
};

std::optional<ItemId> parse_item_id(std::string_view rest) {
  std::size_t slash = rest.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto queue = percent_decode(rest.substr(0, slash));
  std::string_view digits = rest.substr(slash + 1);
  std::uint64_t seq = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seq, 16);
  if (!queue || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return ItemId{.queue = std::move(*queue), .seq = seq};
}

}  // namespace

RecordRoomStore::RecordRoomStore(Store& store, TaskGroup& tasks, WorkspaceSlug workspace,
                                 std::string room)
    : store_(store), tasks_(tasks), workspace_(workspace), prefix_(cat(room, "/")) {}

RecordKey RecordRoomStore::queue_key(const std::string& queue) const {
  return {.workspace = workspace_,
          .kind = std::string(kQueueKind),
          .id = cat(prefix_, percent_encode(queue))};
}

std::string RecordRoomStore::item_prefix(const std::string& queue) const {
  return cat(prefix_, percent_encode(queue), "/");
}

RecordKey RecordRoomStore::item_key(const std::string& queue, std::uint64_t seq) const {
  return {.workspace = workspace_,
          .kind = std::string(kItemKind),
          .id = cat(item_prefix(queue), seq_text(seq))};
}

void RecordRoomStore::load_queues(Loaded loaded) {
  enqueue({.what = Order::What::load, .loaded = std::move(loaded)});
}

void RecordRoomStore::add_queue(std::string queue, Done done) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = queue_key(queue), .body = "{}"});
  enqueue({.what = Order::What::add, .changes = std::move(changes), .done = std::move(done)});
}

void RecordRoomStore::remove_queue(std::string queue, Done done) {
  enqueue({.what = Order::What::remove_queue, .queue = std::move(queue), .done = std::move(done)});
}

void RecordRoomStore::add_item(std::string queue, room::StoredItem item, Done done) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = item_key(queue, item.seq), .body = std::move(item.body)});
  enqueue({.what = Order::What::add, .changes = std::move(changes), .done = std::move(done)});
}

void RecordRoomStore::remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) {
  std::vector<RecordChange> changes;
  for (std::uint64_t seq : seqs) {
    changes.push_back({.key = item_key(queue, seq), .body = std::nullopt});
  }
  enqueue(
      {.what = Order::What::remove_items, .changes = std::move(changes), .done = std::move(done)});
}

void RecordRoomStore::enqueue(Order order) {
  orders_.push_back(std::move(order));
  if (std::exchange(is_working_, true)) return;
  tasks_.spawn("room.store", work(shared_from_this()));
}

Task<void> RecordRoomStore::work(std::shared_ptr<RecordRoomStore> self) {
  while (!self->orders_.empty()) {
    Order order = std::move(self->orders_.front());
    self->orders_.pop_front();
    co_await self->carry_out(std::move(order));
  }
  self->is_working_ = false;
}

Task<void> RecordRoomStore::carry_out(Order order) {
  if (order.what == Order::What::load) {
    auto queues = co_await read_queues();
    if (!is_detached_) order.loaded(std::move(queues));
    co_return;
  }
  Result<void> done;
  if (order.what == Order::What::remove_queue) {
    done = co_await remove_below(std::string(kItemKind), item_prefix(order.queue));
    if (done) order.changes.push_back({.key = queue_key(order.queue), .body = std::nullopt});
  }
  if (done) done = co_await apply(std::move(order.changes));
  if (!is_detached_) order.done(std::move(done));
}

Task<Result<void>> RecordRoomStore::apply(std::vector<RecordChange> changes) {
  if (changes.empty()) co_return Result<void>();
  auto outcome = co_await store_.change_records(std::move(changes));
  if (!outcome) co_return std::move(outcome).error();
  co_return Result<void>();
}

// A page of the records whose ids begin with the prefix.
Task<Result<std::vector<Record>>> RecordRoomStore::list_below(std::string kind, std::string after) {
  ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = workspace_,
                                                            .kind = std::move(kind),
                                                            .after = std::move(after),
                                                            .limit = kPage}));
  std::erase_if(records, [&](const Record& one) { return !one.key.id.starts_with(prefix_); });
  co_return records;
}

Task<Result<void>> RecordRoomStore::remove_below(std::string kind, std::string prefix) {
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await list_below(kind, prefix));
    std::vector<RecordChange> changes;
    for (const Record& record : records) {
      if (!record.key.id.starts_with(prefix)) break;
      changes.push_back({.key = record.key, .body = std::nullopt});
    }
    if (changes.empty()) co_return Result<void>();
    ERRAND_CO_CHECK(co_await apply(std::move(changes)));
  }
}

Task<Result<std::vector<room::StoredQueue>>> RecordRoomStore::read_queues() {
  std::map<std::string, room::StoredQueue> queues;
  std::string after = prefix_;
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await list_below(std::string(kQueueKind), after));
    if (records.empty()) break;
    for (const Record& record : records) {
      auto name = percent_decode(record.key.id.substr(prefix_.size()));
      if (name) queues[*name].name = *name;
    }
    after = records.back().key.id;
  }
  after = prefix_;
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await list_below(std::string(kItemKind), after));
    if (records.empty()) break;
    for (Record& record : records) {
      auto id = parse_item_id(record.key.id.substr(prefix_.size()));
      if (!id || !queues.contains(id->queue)) continue;
      queues[id->queue].items.push_back({.seq = id->seq, .body = std::move(record.body)});
    }
    after = records.back().key.id;
  }
  std::vector<room::StoredQueue> all;
  for (auto& [name, queue] : queues) all.push_back(std::move(queue));
  co_return all;
}

Task<Result<void>> RecordRoomStore::remove_all() {
  ERRAND_CO_CHECK(co_await remove_below(std::string(kItemKind), prefix_));
  co_return co_await remove_below(std::string(kQueueKind), prefix_);
}

}  // namespace errand::server
