#include "agent/history_cache.hpp"

#include <iterator>
#include <utility>

namespace errand::agent {

HistoryCache::Beginning HistoryCache::find(const SessionKey& session, std::int64_t until) {
  auto place = places_.find(session);
  if (place == places_.end() || place->second->beginning.entries > until) return {};
  kept_.splice(kept_.begin(), kept_, place->second);
  return place->second->beginning;
}

HistorySize HistoryCache::size_of(const SessionKey& session) const {
  auto place = places_.find(session);
  if (place == places_.end()) return {};
  const Kept& kept = *place->second;
  return {.entries = kept.beginning.entries, .bytes = kept.stored_bytes};
}

void HistoryCache::extend(const SessionKey& session, std::int64_t after, HistorySize added,
                          Past past) {
  auto place = places_.find(session);
  if (place == places_.end()) {
    if (after != 0) return;
    kept_.push_front({.session = session});
    place = places_.emplace(session, kept_.begin()).first;
  }
  Kept& kept = *place->second;
  if (kept.beginning.entries != after) return;
  kept.beginning.entries += added.entries;
  kept.stored_bytes += added.bytes;
  kept.beginning.past = std::move(past);
  bytes_ -= kept.bytes;
  kept.bytes = kMessageBytes * kept.beginning.past.size() + kept.beginning.past.bytes();
  bytes_ += kept.bytes;
  while (bytes_ > bytes_max_) drop(std::prev(kept_.end()));
}

void HistoryCache::drop(List::iterator kept) {
  bytes_ -= kept->bytes;
  places_.erase(kept->session);
  kept_.erase(kept);
}

}  // namespace errand::agent
