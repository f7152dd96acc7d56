#include "agent/history_cache.hpp"

#include <iterator>
#include <utility>

namespace errand::agent {
namespace {

std::size_t bytes_of(const Message& message) {
  std::size_t bytes = HistoryCache::kMessageBytes + message.text.size();
  for (const ToolCallPart& call : message.calls) bytes += call.name.size() + call.arguments.size();
  for (const ToolResultPart& result : message.results) bytes += result.text.size();
  return bytes;
}

}  // namespace

HistoryCache::Beginning HistoryCache::find(const SessionKey& session, std::int64_t until) {
  auto place = places_.find(session);
  if (place == places_.end() || place->second->beginning.entries > until) return {};
  kept_.splice(kept_.begin(), kept_, place->second);
  return place->second->beginning;
}

void HistoryCache::keep(const SessionKey& session, const Beginning& known,
                        std::size_t messages_before) {
  auto place = places_.find(session);
  if (place != places_.end() && place->second->beginning.messages.size() != messages_before) {
    // Another run of the session has read it meanwhile, or another part of it.
    drop(place->second);
    place = places_.end();
  }
  if (place == places_.end()) {
    kept_.push_front({.session = session});
    place = places_.emplace(session, kept_.begin()).first;
    messages_before = 0;
  }
  Kept& kept = *place->second;
  kept.beginning.entries = known.entries;
  for (std::size_t i = messages_before; i < known.messages.size(); ++i) {
    const std::size_t bytes = bytes_of(*known.messages[i]);
    kept.bytes += bytes;
    bytes_ += bytes;
    kept.beginning.messages.push_back(known.messages[i]);
  }
  while (bytes_ > bytes_max_) drop(std::prev(kept_.end()));
}

void HistoryCache::drop(List::iterator kept) {
  bytes_ -= kept->bytes;
  places_.erase(kept->session);
  kept_.erase(kept);
}

}  // namespace errand::agent
