#include "sdk/run_stream.hpp"

#include <utility>

namespace errand::sdk {
namespace {

// A connection that breaks is treated like one that could not be opened.
Error broken(const Error& error) {
  if (!is_worth_retrying(error)) return error;
  return Error(ErrorCode::unavailable, error.message()).reason(RunApi::kUnreachable);
}

}  // namespace

Task<Result<RunStream::Item>> RunStream::next() {
  for (;;) {
    if (auto notice = take_notice()) co_return std::move(*notice);
    if (!ready_.empty()) {
      Item item{.event = std::move(ready_.front())};
      ready_.pop_front();
      co_return item;
    }
    if (auto retry = take_retry()) co_return std::move(*retry);
    auto advanced = co_await advance();
    if (advanced) continue;
    source_.reset();
    if (!is_patient_ || !is_worth_retrying(advanced.error())) {
      co_return std::move(advanced).error();
    }
    SteadyTime now = timers_.now();
    if (!lost_at_) lost_at_ = now;
    if (now - *lost_at_ >= patience_) co_return std::move(advanced).error();
    next_attempt_ = now + kPause;
    why_ = advanced.error().message();
  }
}

// A loss of the connection is reported before the first pause, and only once until the server is
// heard again.
std::optional<RunStream::Item> RunStream::take_notice() {
  if (!lost_at_) return {};
  if (!std::exchange(has_told_lost_, true)) return Item{.kind = Item::Kind::lost, .why = why_};
  if (source_ && !std::exchange(has_told_back_, true)) return Item{.kind = Item::Kind::back};
  return {};
}

std::optional<RunStream::Item> RunStream::take_retry() {
  auto retry = std::exchange(retry_, {});
  const milliseconds left = retry ? retry->left(timers_.now()) : milliseconds(0);
  if (left <= milliseconds(0)) return {};
  return Item{.kind = Item::Kind::retry, .why = std::move(retry->why), .pause = left};
}

Task<Result<void>> RunStream::advance() {
  if (source_) co_return co_await read();
  co_return co_await open();
}

Task<Result<void>> RunStream::open() {
  if (lost_at_) co_await timers_.sleep_until(next_attempt_);
  ERRAND_CO_TRY(source_, co_await api_.open_stream(run_, last_seq_));
  is_patient_ = true;
  co_return Result<void>();
}

Task<Result<void>> RunStream::read() {
  auto heard = co_await source_->read();
  if (!heard) co_return broken(heard.error());
  lost_at_.reset();
  has_told_lost_ = false;
  has_told_back_ = false;
  retry_ = std::move(heard->retry);
  for (StampedEvent& event : heard->events) {
    if (event.seq <= last_seq_) continue;
    last_seq_ = event.seq;
    ready_.push_back(std::move(event));
  }
  co_return Result<void>();
}

}  // namespace errand::sdk
