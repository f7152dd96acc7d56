#pragma once

#include <string>
#include <vector>

#include "async/wakeup.hpp"
#include "net/event_feed.hpp"

namespace errand::llm {

// Bytes that are known from the start, sent at the pace of a script. Lives on one home.
class FakeFeed final : public net::EventFeed {
 public:
  struct Step {
    milliseconds delay{0};  // before it, from when the former one was due: a pace is kept
    std::string frames;     // may be empty
  };
  // `broken` resets the connection after the last step.
  enum class End { clean, broken };

  FakeFeed(std::vector<Step> steps, End end, Executor home);

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override;

 private:
  // Whether the next step may be sent; if there is none, whether the end may.
  bool is_due(SteadyTime now) const { return next_ == steps_.size() || due_ <= now; }
  Chunk take(SteadyTime now);

  std::vector<Step> steps_;
  const End end_;
  std::size_t next_ = 0;
  SteadyTime due_;  // of the next step
  bool interrupted_ = false;
  Wakeup wakeup_;
};

}  // namespace errand::llm
