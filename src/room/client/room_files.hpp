#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "async/task.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "room/client/room_call.hpp"
#include "room/client/room_client.hpp"

namespace errand::room {

// The files of a room, as a participant uses them. All of it lives on the client's home; a call may
// outlive its client. Errors are the same as of RoomClient::request; their reason is the room's
// code, such as "room_3001". unavailable also: the room cannot do it, or not now.

// Calls a tool of the toolkit `storage` that answers at once. Null: it has nothing to say.
Task<Result<json::Value>> call_storage(RoomClient* client, std::string tool,
                                       json::Object arguments);

struct UploadParams {
  std::string path;
  std::string mime_type = "application/octet-stream";
  bool overwrite = false;
  std::optional<std::uint64_t> size = {};  // absent: finish() says where the file ends
};

// A file on its way into the room, block by block. The room has the old file or the new one,
// whenever this is dropped.
class RoomUpload final {
 public:
  static Task<Result<std::shared_ptr<RoomUpload>>> begin(RoomClient* client, UploadParams params);

  // How large the next block may be; nothing once the room has the whole file, durably.
  Task<Result<std::optional<std::size_t>>> wanted();
  // The next block, after wanted() has asked for it.
  Task<Result<bool>> write(std::string block);
  // There is no more.
  void finish() { call_->close_input(); }

 private:
  explicit RoomUpload(RoomCallPtr call) : call_(std::move(call)) {}
  RoomCallPtr call_;
};

// A file on its way out of the room.
class RoomDownload final {
 public:
  static constexpr std::size_t kBlockBytes = 256U * 1024;

  static Task<Result<std::shared_ptr<RoomDownload>>> begin(RoomClient* client, std::string path);

  const std::string& name() const { return name_; }
  const std::string& mime_type() const { return mime_type_; }
  std::uint64_t size() const { return size_; }
  // The next bytes; nothing at the end of the file.
  Task<Result<std::optional<std::string>>> read();

 private:
  explicit RoomDownload(RoomCallPtr call) : call_(std::move(call)) {}

  RoomCallPtr call_;
  std::string name_;
  std::string mime_type_;
  std::uint64_t size_ = 0;
  std::uint64_t given_bytes_ = 0;
};

}  // namespace errand::room
