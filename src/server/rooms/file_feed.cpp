#include "server/rooms/file_feed.hpp"

#include <utility>

namespace errand::server {

Task<net::EventFeed::Chunk> FileFeed::read(SteadyTime) {
  if (is_interrupted_) co_return Chunk{.state = State::broken, .frames = ""};
  if (sent_bytes_ >= file_.size) co_return Chunk{.state = State::ended, .frames = ""};
  auto part = co_await store_->find_part(file_.content, sent_bytes_ / file_.part_bytes);
  if (!part || part->empty() || is_interrupted_) {
    co_return Chunk{.state = State::broken, .frames = ""};
  }
  sent_bytes_ += part->size();
  const bool is_last = sent_bytes_ >= file_.size;
  co_return Chunk{.state = is_last ? State::ended : State::more, .frames = std::move(*part)};
}

}  // namespace errand::server
