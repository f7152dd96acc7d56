#include "engine/session_cache.hpp"

#include <utility>

namespace errand::engine {

SessionCache::Known SessionCache::find(const SessionKey& session) {
  auto place = places_.find(session);
  if (place == places_.end()) return {};
  kept_.splice(kept_.begin(), kept_, place->second);
  return place->second->known;
}

void SessionCache::keep(const SessionKey& session, Known known) {
  auto place = places_.find(session);
  if (place != places_.end()) {
    place->second->known = std::move(known);
    return;
  }
  kept_.push_front({.session = session, .known = std::move(known)});
  places_.emplace(session, kept_.begin());
  if (kept_.size() <= sessions_max_) return;
  places_.erase(kept_.back().session);
  kept_.pop_back();
}

void SessionCache::note(const SessionKey& session, HistorySize history) {
  auto place = places_.find(session);
  if (place != places_.end()) place->second->known.history = history;
}

}  // namespace errand::engine
