#pragma once

#include <memory>
#include <string>

#include "net/event_feed.hpp"
#include "server/rooms/record_room_store.hpp"

namespace errand::server {

// The bytes of a room's file, part by part, as the body of an answer. A file that is changed
// meanwhile breaks the answer.
class FileFeed final : public net::EventFeed {
 public:
  FileFeed(std::shared_ptr<RecordRoomStore> store, room::StoredFile file)
      : store_(std::move(store)), file_(std::move(file)) {}

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override { is_interrupted_ = true; }

 private:
  const std::shared_ptr<RecordRoomStore> store_;
  const room::StoredFile file_;
  std::uint64_t sent_bytes_ = 0;
  bool is_interrupted_ = false;
};

}  // namespace errand::server
