#include "store/sqlite/write_queue.hpp"

#include <utility>

namespace errand::sqlite {

WriteQueue::Pushed WriteQueue::push(std::unique_ptr<WriteItem>& item) {
  const std::size_t bytes = item->bytes();
  std::size_t count = 0;
  {
    std::lock_guard lock(mutex_);
    const bool is_too_much = bytes_ + bytes > kBytesMax && !items_.empty();
    if (items_.size() == kItemsMax || is_too_much) return Pushed::refused;
    bytes_ += bytes;
    items_.push_back(std::move(item));
    count = items_.size();
  }
  if (count == 1) return Pushed::wake;
  if (count == kEnough) wake();
  return Pushed::no_need_to_wake;
}

void WriteQueue::wake() {
  {
    std::lock_guard lock(mutex_);
    // The writer may have taken the items already, because there were enough of them.
    if (items_.empty()) return;
    awake_ = true;
  }
  ready_.notify_one();
}

bool WriteQueue::take(WriteBatch& batch) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return awake_ || stopping_; });
  awake_ = false;
  batch.swap(items_);
  bytes_ = 0;
  return !batch.empty();
}

std::size_t WriteQueue::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

void WriteQueue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_one();
}

}  // namespace errand::sqlite
