#include "store/sqlite/write_queue.hpp"

#include <utility>

namespace errand::sqlite {

WriteQueue::Pushed WriteQueue::push(std::unique_ptr<WriteItem> item) {
  {
    std::lock_guard lock(mutex_);
    if (items_.size() < kItemsMax) {
      items_.push_back(std::move(item));
      return std::exchange(idle_, false) ? Pushed::wake : Pushed::no_need_to_wake;
    }
  }
  item->fail(Error(ErrorCode::unavailable, "too many writes wait for the disk"));
  return Pushed::no_need_to_wake;
}

void WriteQueue::wake() {
  {
    std::lock_guard lock(mutex_);
    awake_ = true;
  }
  ready_.notify_one();
}

bool WriteQueue::take(WriteBatch& batch) {
  std::unique_lock lock(mutex_);
  if (items_.empty()) {
    idle_ = true;
    awake_ = false;
    ready_.wait(lock, [this] { return awake_ || stopping_; });
    idle_ = false;
  }
  batch.swap(items_);
  return !batch.empty();
}

void WriteQueue::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_one();
}

}  // namespace errand::sqlite
