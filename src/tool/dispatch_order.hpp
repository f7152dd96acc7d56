#pragma once

#include <cstddef>
#include <vector>

namespace errand {

// Decides which calls of a turn may start. Calls run in parallel, save that one which is not
// parallel-safe is a barrier by its place: it waits for all earlier calls, and every later call
// waits for it. Pure: the same answers follow from the same calls, also after a restart.
class DispatchOrder {
 public:
  enum class Kind { parallel, barrier };

  // The next call in the order of emission.
  void add(Kind kind);
  void finished(std::size_t index);

  // Whether nothing stands in the way of this call.
  bool may_start(std::size_t index) const;

 private:
  struct Entry {
    Kind kind;
    bool finished = false;
  };

  void advance();

  std::vector<Entry> calls_;
  // The first call, and the first barrier, that is not finished; as many as there are calls if
  // there is none.
  std::size_t first_ = 0;
  std::size_t first_barrier_ = 0;
};

}  // namespace errand
