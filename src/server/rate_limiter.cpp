#include "server/rate_limiter.hpp"

#include <algorithm>
#include <chrono>

namespace errand::server {
namespace {

constexpr auto kSeconds = static_cast<std::int64_t>(RateLimiter::kBuckets);

std::int64_t second_of(SteadyTime now) {
  return std::chrono::duration_cast<seconds>(now.time_since_epoch()).count();
}

std::size_t bucket_of(std::int64_t second) {
  return static_cast<std::size_t>(second % kSeconds);
}

}  // namespace

void RateLimiter::advance(Window& window, std::int64_t second) {
  std::int64_t gone = std::min(second - window.newest, kSeconds);
  for (std::int64_t i = 1; i <= gone; ++i) {
    std::uint32_t& count = window.counts[bucket_of(window.newest + i)];
    window.total -= count;
    count = 0;
  }
  window.newest = std::max(window.newest, second);
}

bool RateLimiter::would_allow(const KeyId& key, SteadyTime now) {
  auto known = windows_.find(key);
  if (known == windows_.end()) return per_minute_ > 0;
  advance(known->second, second_of(now));
  return known->second.total < per_minute_;
}

RateLimiter::Verdict RateLimiter::take(const KeyId& key, SteadyTime now) {
  const std::int64_t second = second_of(now);
  if (windows_.size() >= kKeysMax && !windows_.contains(key)) forget_idle(second);
  Window& window = windows_.try_emplace(key, Window{.newest = second}).first->second;
  advance(window, second);
  Verdict verdict{.is_allowed = window.total < per_minute_, .limit = per_minute_};
  if (verdict.is_allowed) {
    ++window.counts[bucket_of(second)];
    ++window.total;
  }
  verdict.remaining = per_minute_ - window.total;
  // The oldest bucket with requests is the first to leave the window.
  for (std::int64_t age = kSeconds - 1; age >= 0; --age) {
    if (window.counts[bucket_of(second - age + kSeconds)] == 0) continue;
    verdict.reset_after = seconds(kSeconds - age);
    break;
  }
  return verdict;
}

void RateLimiter::forget_idle(std::int64_t second) {
  std::erase_if(windows_,
                [&](const auto& entry) { return second - entry.second.newest >= kSeconds; });
}

}  // namespace errand::server
