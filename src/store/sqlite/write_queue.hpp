#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "async/task.hpp"
#include "store/sqlite/changes/changes.hpp"

namespace errand::sqlite {

// One change, and the task that waits for its result.
class WriteItem {
 public:
  virtual ~WriteItem() = default;
  virtual Executor home() const = 0;      // of the task
  virtual std::size_t bytes() const = 0;  // of memory that the change holds
  virtual void apply(Changes& changes) = 0;
  virtual void fail(const Error& error) = 0;  // takes the place of what apply() has given
  virtual void drop_change() = 0;             // after either: frees what the change holds
  virtual void resume() = 0;                  // at home, after either: the task gets its result
};
using WriteBatch = std::vector<std::unique_ptr<WriteItem>>;

// Changes on their way from any home to the writer's thread. The writer starts with the first of
// them when it is woken, so that others can join it, or when there are enough.
class WriteQueue final {
 public:
  static constexpr std::size_t kItemsMax = 65'536;
  static constexpr std::size_t kBytesMax = 64 * 1024 * 1024;
  static constexpr std::size_t kEnough = 16;

  // An item that would exceed kItemsMax or kBytesMax is refused and stays with the caller. An empty
  // queue takes one item of any size. A push that says `wake` must be followed by wake(); better a
  // little later, so that more is pushed meanwhile.
  enum class Pushed { no_need_to_wake, wake, refused };
  [[nodiscard]] Pushed push(std::unique_ptr<WriteItem>& item);
  void wake();

  // Waits for something to do and moves it to `batch`; false once the queue is stopped and empty.
  bool take(WriteBatch& batch);
  void stop();

  std::size_t bytes() const;  // of all waiting items

 private:
  mutable std::mutex mutex_;  // protects what follows
  std::condition_variable ready_;
  WriteBatch items_;
  std::size_t bytes_ = 0;  // of these
  bool awake_ = false;     // queued writes may be taken
  bool stopping_ = false;
};

}  // namespace errand::sqlite
