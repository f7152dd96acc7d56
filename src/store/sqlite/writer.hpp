#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "async/completion.hpp"
#include "base/log.hpp"
#include "store/sqlite/write_queue.hpp"

namespace errand::sqlite {

// The one thread that writes. Changes that homes queue while a commit is on its way to the disk
// share the next commit.
class Writer final {
 public:
  Writer(std::unique_ptr<Database> database, const Timekeeper& time, Log& log, std::int64_t epoch,
         DiskRoom::Limits limits);
  ~Writer();  // commits queued writes and the store's time; then joins
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Calls `change`, a function from Changes& to Result<T> that holds `bytes`, inside a transaction,
  // and gives its result once it is durable. unavailable: too many writes wait, or the batch was
  // rolled back. outcome_unknown: it may be durable or not. Safe to call from any home.
  template <class T, class F>
  Task<Result<T>> write(F change, std::size_t bytes = 0) {
    return submit<T>(queue_, std::move(change), bytes);
  }

  std::uint64_t commits() const { return commits_; }
  std::uint64_t items() const { return items_; }
  std::uint64_t pages() const { return pages_; }  // that these commits wrote
  std::size_t queued_bytes() const { return queue_->bytes(); }

 private:
  template <class T, class F>
  class Item;

  template <class T, class F>
  static Task<Result<T>> submit(std::shared_ptr<WriteQueue> queue, F change, std::size_t bytes) {
    auto start = [&queue, &change, bytes](Waiter<Result<T>> waiter) {
      push(queue, std::make_unique<Item<T, F>>(std::move(change), bytes, std::move(waiter)));
    };
    co_return co_await await_resumption<Result<T>>(start);
  }
  static void push(const std::shared_ptr<WriteQueue>& queue, std::unique_ptr<WriteItem> item);
  // Each task gets its result.
  static void hand_back(WriteBatch& batch);

  void loop();
  void commit(WriteBatch& batch);
  Result<void> apply(WriteBatch& batch);
  void checkpoint();
  void save_clock();
  void end_process_if_sync_failed();

  const std::unique_ptr<Database> database_;
  Log& log_;
  Changes changes_;
  Statement begin_;
  bool checkpoint_failed_ = false;

  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> items_ = 0;
  std::atomic<std::uint64_t> pages_ = 0;

  // Shared with wake-ups that may outlive the writer.
  const std::shared_ptr<WriteQueue> queue_ = std::make_shared<WriteQueue>();
  std::thread thread_;  // uses everything above
};

template <class T, class F>
class Writer::Item final : public WriteItem {
 public:
  Item(F change, std::size_t bytes, Waiter<Result<T>> waiter)
      : change_(std::in_place, std::move(change)), bytes_(bytes), waiter_(std::move(waiter)) {}

  Executor home() const override { return waiter_.home(); }
  std::size_t bytes() const override { return bytes_; }
  void apply(Changes& changes) override { result_.emplace((*change_)(changes)); }
  void fail(const Error& error) override { result_.emplace(error); }
  void drop_change() override { change_.reset(); }
  void resume() override { waiter_.resume(std::move(*result_)); }

 private:
  std::optional<F> change_;
  const std::size_t bytes_;
  Waiter<Result<T>> waiter_;
  std::optional<Result<T>> result_;
};

}  // namespace errand::sqlite
