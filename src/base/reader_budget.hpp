#pragma once

#include <cstddef>
#include <utility>

namespace errand {

// How many bytes of events and messages wait in memory for all readers of a process, and were not
// given to a connection yet; what a connection has is in net::UnsentBytes. A segment that waits for
// several readers counts for each of them. Lives on one home, and outlives its shares.
class ReaderBudget final {
 public:
  explicit ReaderBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  ReaderBudget(const ReaderBudget&) = delete;
  ReaderBudget& operator=(const ReaderBudget&) = delete;

  // The bytes that wait for one reader; given back on destruction.
  class Share final {
   public:
    explicit Share(ReaderBudget& budget) : budget_(budget) {}
    ~Share() { set(0); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    std::size_t bytes() const { return bytes_; }
    bool is_exceeded() const { return budget_.is_exceeded(); }
    void set(std::size_t bytes) {
      budget_.used_ += bytes;
      budget_.used_ -= std::exchange(bytes_, bytes);
    }

   private:
    ReaderBudget& budget_;
    std::size_t bytes_ = 0;
  };

  std::size_t used() const { return used_; }
  // Past the limit, whatever can be read from the store again is dropped.
  bool is_exceeded() const { return used_ > bytes_max_; }

 private:
  const std::size_t bytes_max_;
  std::size_t used_ = 0;
};

}  // namespace errand
