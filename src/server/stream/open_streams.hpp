#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "net/event_feed.hpp"
#include "run/ids.hpp"

namespace errand::server {

// The event streams that are open, by the key that opened them, so that a revoked key loses them.
// Lives on the server's home and outlives the feeds.
class OpenStreams final {
 public:
  // The feed, for as long as the key is good: once the key is revoked, or `expires` has come, it is
  // `broken`. The connection of a revoked key is reset at once, even if its client reads nothing.
  // `secret` is the key, or the access token of an OAuth client whose id stands for a key.
  std::unique_ptr<net::EventFeed> guard(std::unique_ptr<net::EventFeed> feed, const KeyId& key,
                                        std::string_view secret, SteadyTime expires);
  void cut(const KeyId& key);
  // Only the streams that were opened with this token of an OAuth client.
  void cut(const KeyId& key, std::string_view secret);
  std::size_t size() const { return feeds_.size(); }

 private:
  class GuardedFeed;

  std::multimap<KeyId, GuardedFeed*> feeds_;
};

}  // namespace errand::server
