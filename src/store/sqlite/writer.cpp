#include "store/sqlite/writer.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <iterator>

#include "async/post_after_ready.hpp"

namespace errand::sqlite {
namespace {

// A checkpoint moves the log of a busy database into it after this many pages; then the log is used
// again from its start.
constexpr int kLogPagesMax = 1000;

}  // namespace

Writer::Writer(std::unique_ptr<Database> database, const Timekeeper& time, Log& log,
               std::int64_t epoch, DiskRoom::Limits limits)
    : database_(std::move(database)),
      log_(log),
      changes_(*database_, time, epoch, std::move(limits)),
      begin_(*database_, "BEGIN IMMEDIATE"),
      thread_([this] { loop(); }) {}

Writer::~Writer() {
  queue_->stop();
  thread_.join();
}

void Writer::push(const std::shared_ptr<WriteQueue>& queue, std::unique_ptr<WriteItem> item) {
  const Executor home = item->home();
  switch (queue->push(item)) {
    case WriteQueue::Pushed::no_need_to_wake: return;
    case WriteQueue::Pushed::wake:
      // The writer is woken after the home's ready work, so that further writes join the same
      // commit.
      return post_after_ready(home, [queue] { queue->wake(); });
    case WriteQueue::Pushed::refused:
      item->fail(Error(ErrorCode::unavailable, "too many writes wait for the disk"));
      asio::post(home, [item = std::move(item)] { item->resume(); });
  }
}

void Writer::hand_back(WriteBatch& batch) {
  // The items of one home go back together: the home is woken once, and its next writes come
  // together.
  for (auto first = batch.begin(); first != batch.end();) {
    const Executor home = (*first)->home();
    auto last = std::find_if(first, batch.end(),
                             [&home](const auto& item) { return item->home() != home; });
    WriteBatch items{std::move_iterator(first), std::move_iterator(last)};
    post_from_outside(home, [items = std::move(items)]() mutable {
      for (auto& item : items) std::exchange(item, nullptr)->resume();
    });
    first = last;
  }
}

void Writer::loop() {
  WriteBatch batch;
  while (queue_->take(batch)) {
    commit(batch);
    // Here and not at home: to free megabytes takes long.
    for (auto& item : batch) item->drop_change();
    hand_back(batch);
    batch.clear();
    checkpoint();
  }
  save_clock();
}

void Writer::commit(WriteBatch& batch) {
  auto done = apply(batch);
  if (!done) {
    end_process_if_sync_failed();
    database_->rollback();
    log_.error("a commit failed", {{"reason", done.error().message()}});
    for (auto& item : batch) item->fail(done.error());
    return;
  }
  commits_ += 1;
  items_ += batch.size();
  pages_ = static_cast<std::uint64_t>(database_->pages_written());
}

Result<void> Writer::apply(WriteBatch& batch) {
  ERRAND_CHECK(begin_.run());
  const std::int64_t changes = database_->total_changes();
  for (auto& item : batch) {
    item->apply(changes_);
    if (database_->failed()) return database_->failure();
  }
  // A transaction without changes must stay one, because its commit then waits for nothing.
  if (database_->total_changes() > changes) {
    ERRAND_CHECK(changes_.save_clock(Changes::Saving::if_old));
  }
  return database_->commit();
}

void Writer::save_clock() {
  auto done = begin_.run();
  if (done) done = changes_.save_clock(Changes::Saving::always);
  if (done) done = database_->commit();
  if (done) return;
  end_process_if_sync_failed();
  database_->rollback();
  log_.warning("cannot save the store's time", {{"reason", done.error().message()}});
}

void Writer::checkpoint() {
  if (database_->log_pages() < kLogPagesMax) return;
  auto done = database_->checkpoint();
  end_process_if_sync_failed();
  if (!done && !checkpoint_failed_) {
    log_.warning("the write-ahead log cannot be moved into the database and grows",
                 {{"reason", done.error().message()}});
  }
  checkpoint_failed_ = !done;
}

void Writer::end_process_if_sync_failed() {
  if (!database_->sync_failed()) return;
  // A second fsync would report success for pages that the kernel has dropped.
  log_.error("fsync failed: the server exits so that a restart reads what the disk really holds");
  std::abort();
}

}  // namespace errand::sqlite
