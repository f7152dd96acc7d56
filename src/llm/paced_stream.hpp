#pragma once

#include <vector>

#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// How fast events that are all known from the start are handed out.
struct Pace {
  milliseconds delay{0};        // before the first event
  milliseconds delta_delay{0};  // before each further event; 0: all of them at once
};

// The stream of a model that needs no network: it plays a list of events at a given pace.
class PacedStream final : public TurnStream {
 public:
  // The last of `events` is Finished or Failed.
  PacedStream(std::vector<TurnEvent> events, Pace pace, Timers& timers, Executor home);
  ~PacedStream() override;

  Task<std::vector<TurnEvent>> next() override;
  void abort() override;

 private:
  std::vector<TurnEvent> take();

  std::vector<TurnEvent> events_;
  const Pace pace_;
  std::size_t played_ = 0;
  bool aborted_ = false;
  Timers& timers_;
  Timers::Id timer_;
  Wakeup wakeup_;
};

}  // namespace errand::llm
