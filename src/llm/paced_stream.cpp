#include "llm/paced_stream.hpp"

#include <iterator>
#include <utility>

namespace errand::llm {
namespace {

Failed aborted() {
  return {{.error_class = "server",
           .message = "the stream of the model was closed",
           .retryable = true}};
}

}  // namespace

PacedStream::PacedStream(std::vector<TurnEvent> events, Pace pace, Timers& timers, Executor home)
    : events_(std::move(events)), pace_(pace), timers_(timers), wakeup_(std::move(home)) {}

PacedStream::~PacedStream() {
  timers_.cancel(timer_);
}

Task<std::vector<TurnEvent>> PacedStream::next() {
  milliseconds delay = played_ == 0 ? pace_.delay : pace_.delta_delay;
  if (delay.count() > 0 && !aborted_) {
    timer_ = timers_.set(timers_.now() + delay, [this] { wakeup_.notify(); });
    co_await wakeup_.wait();
    timers_.cancel(timer_);
  }
  if (aborted_ || played_ == events_.size()) {
    std::vector<TurnEvent> end;
    end.emplace_back(aborted());
    co_return end;
  }
  co_return take();
}

void PacedStream::abort() {
  aborted_ = true;
  wakeup_.notify();
}

std::vector<TurnEvent> PacedStream::take() {
  std::size_t count = pace_.delta_delay.count() > 0 ? 1 : events_.size() - played_;
  auto first = std::make_move_iterator(events_.begin() + static_cast<std::ptrdiff_t>(played_));
  std::vector<TurnEvent> out(first, first + static_cast<std::ptrdiff_t>(count));
  played_ += count;
  return out;
}

}  // namespace errand::llm
