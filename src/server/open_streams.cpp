#include "server/open_streams.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace errand::server {

class OpenStreams::GuardedFeed final : public net::EventFeed {
 public:
  GuardedFeed(std::unique_ptr<net::EventFeed> feed, OpenStreams& streams, const KeyId& key,
              SteadyTime expires)
      : feed_(std::move(feed)),
        streams_(streams),
        listed_(streams.feeds_.emplace(key, this)),
        expires_(expires) {}
  ~GuardedFeed() override { streams_.feeds_.erase(listed_); }
  GuardedFeed(const GuardedFeed&) = delete;
  GuardedFeed& operator=(const GuardedFeed&) = delete;

  Task<Chunk> read(SteadyTime deadline) override {
    Chunk chunk{.state = State::broken, .frames = {}};
    if (is_good()) chunk = co_await feed_->read(std::min(deadline, expires_));
    if (!is_good()) chunk = {.state = State::broken, .frames = {}};
    co_return chunk;
  }

  void interrupt() override { feed_->interrupt(); }
  void release() override { feed_->release(); }

  void cut() {
    is_cut_ = true;
    feed_->interrupt();
  }

 private:
  bool is_good() const { return !is_cut_ && std::chrono::steady_clock::now() < expires_; }

  std::unique_ptr<net::EventFeed> feed_;
  OpenStreams& streams_;
  std::multimap<KeyId, GuardedFeed*>::iterator listed_;
  const SteadyTime expires_;
  bool is_cut_ = false;
};

std::unique_ptr<net::EventFeed> OpenStreams::guard(std::unique_ptr<net::EventFeed> feed,
                                                   const KeyId& key, SteadyTime expires) {
  return std::make_unique<GuardedFeed>(std::move(feed), *this, key, expires);
}

void OpenStreams::cut(const KeyId& key) {
  auto [first, last] = feeds_.equal_range(key);
  for (auto feed = first; feed != last; ++feed) feed->second->cut();
}

}  // namespace errand::server
