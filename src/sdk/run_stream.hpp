#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "async/timers.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// The events of a run, each once and in order, over as many connections as it takes. Lives on one
// home.
class RunStream final {
 public:
  static constexpr milliseconds kPause{500};  // between attempts
  static constexpr seconds kPatience{30};     // how long attempts go on, unless told otherwise

  // What a failure of the first connection means. A run that this process has created certainly
  // exists.
  enum class FirstFailure { is_final, is_retried };

  RunStream(RunApi& api, Timers& timers, RunId run, EventSeq after, FirstFailure first,
            seconds patience = kPatience)
      : api_(api),
        timers_(timers),
        run_(run),
        last_seq_(after),
        patience_(patience),
        is_patient_(first == FirstFailure::is_retried) {}

  struct Item {
    // lost, back: the connection broke, stands again. retry: the model is asked again.
    enum class Kind { event, lost, back, retry };
    Kind kind = Kind::event;
    StampedEvent event = {};
    std::string why = {};     // of lost, retry
    milliseconds pause = {};  // of retry
  };
  // The next event or notice. Fails if the server refuses, or stays away longer than `patience`.
  // Not to be called again after a terminal event or a failure.
  Task<Result<Item>> next();

  // Lets go of the connection; what it belongs to may be touched on this home alone. The last call.
  void close() { source_.reset(); }

  const RunId& run() const { return run_; }
  EventSeq last_seq() const { return last_seq_; }

 private:
  Task<Result<void>> advance();
  Task<Result<void>> open();
  Task<Result<void>> read();
  std::optional<Item> take_notice();
  std::optional<Item> take_retry();

  RunApi& api_;
  Timers& timers_;
  const RunId run_;
  EventSeq last_seq_;
  const seconds patience_;
  bool is_patient_;
  std::unique_ptr<EventSource> source_;
  std::deque<StampedEvent> ready_;
  Sparse<ModelRetry> retry_;  // came after the events that are ready

  // Since the server was last heard of.
  std::optional<SteadyTime> lost_at_;
  SteadyTime next_attempt_{};
  std::string why_;
  bool has_told_lost_ = false;
  bool has_told_back_ = false;
};

}  // namespace errand::sdk
