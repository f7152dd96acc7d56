#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "store/sqlite/changes.hpp"

namespace errand::sqlite {

// One change, and whom to tell of its result.
class WriteItem {
 public:
  virtual ~WriteItem() = default;
  virtual void apply(Changes& changes) = 0;
  // Exactly one of these is called, after the commit: tell the result of apply(), or an Error that
  // took its place.
  virtual void finish() = 0;
  virtual void fail(const Error& error) = 0;
};
using WriteBatch = std::vector<std::unique_ptr<WriteItem>>;

// Changes on their way from any home to the writer's thread.
class WriteQueue final {
 public:
  // More than this many waiting changes are refused with unavailable.
  static constexpr std::size_t kItemsMax = 65'536;

  enum class Pushed { no_need_to_wake, wake };
  [[nodiscard]] Pushed push(std::unique_ptr<WriteItem> item);
  // Must follow a push that says so; may come later, so that more is pushed meanwhile.
  void wake();

  // Waits for something to do and moves it to `batch`; false once the queue is stopped and empty.
  bool take(WriteBatch& batch);
  void stop();

 private:
  std::mutex mutex_;  // protects what follows
  std::condition_variable ready_;
  WriteBatch items_;
  bool idle_ = false;   // the writer waits, and nobody has undertaken to wake it
  bool awake_ = false;  // somebody has called wake()
  bool stopping_ = false;
};

}  // namespace errand::sqlite
