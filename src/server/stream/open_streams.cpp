#include "server/stream/open_streams.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "crypto/digest.hpp"

namespace errand::server {

class OpenStreams::GuardedFeed final : public net::EventFeed {
 public:
  GuardedFeed(std::unique_ptr<net::EventFeed> feed, OpenStreams& streams, const KeyId& key,
              std::string_view secret, SteadyTime expires)
      : feed_(std::move(feed)),
        streams_(streams),
        digest_(crypto::sha256(secret)),
        listed_(streams.feeds_.emplace(key, this)),
        expires_(expires) {}
  ~GuardedFeed() override { streams_.feeds_.erase(listed_); }
  GuardedFeed(const GuardedFeed&) = delete;
  GuardedFeed& operator=(const GuardedFeed&) = delete;

  Task<Chunk> read(SteadyTime deadline) override {
    if (!is_good()) co_return Chunk{.state = State::broken};
    Chunk chunk = co_await feed_->read(std::min(deadline, expires_));
    if (!is_good()) chunk.state = State::broken;
    co_return chunk;
  }

  void interrupt() override { feed_->interrupt(); }
  void release() override { feed_->release(); }
  void on_cut(std::function<void()> reset) override { reset_ = std::move(reset); }

  bool is_of(const crypto::Sha256& digest) const { return digest_ == digest; }

  // The connection is reset, because a client that reads nothing would never learn of a normal end.
  void cut() {
    is_cut_ = true;
    feed_->interrupt();
    if (reset_) reset_();
  }

 private:
  bool is_good() const { return !is_cut_ && std::chrono::steady_clock::now() < expires_; }

  std::unique_ptr<net::EventFeed> feed_;
  OpenStreams& streams_;
  const crypto::Sha256 digest_;  // of the credential that opened it
  std::multimap<KeyId, GuardedFeed*>::iterator listed_;
  const SteadyTime expires_;
  std::function<void()> reset_;  // empty: nothing was streamed yet
  bool is_cut_ = false;
};

std::unique_ptr<net::EventFeed> OpenStreams::guard(std::unique_ptr<net::EventFeed> feed,
                                                   const KeyId& key, std::string_view secret,
                                                   SteadyTime expires) {
  return std::make_unique<GuardedFeed>(std::move(feed), *this, key, secret, expires);
}

void OpenStreams::cut(const KeyId& key) {
  auto [first, last] = feeds_.equal_range(key);
  for (auto feed = first; feed != last; ++feed) feed->second->cut();
}

void OpenStreams::cut(const KeyId& key, std::string_view secret) {
  const crypto::Sha256 digest = crypto::sha256(secret);
  auto [first, last] = feeds_.equal_range(key);
  for (auto feed = first; feed != last; ++feed) {
    if (feed->second->is_of(digest)) feed->second->cut();
  }
}

}  // namespace errand::server
