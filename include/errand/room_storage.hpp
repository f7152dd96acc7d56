#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <errand/detail/version.hpp>

namespace errand::sdk {
class RoomCore;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// A file or a folder of a room. Folders exist by their files.
struct RoomFile {
  std::string name;  // the last part of its path
  bool is_folder = false;
  std::uint64_t size = 0;       // 0 for a folder
  std::string created_at = {};  // ISO 8601; empty if it is not known
  std::string updated_at = {};

  bool operator==(const RoomFile&) const = default;
};

struct RoomUploadOptions {
  bool overwrite = false;  // else a file that is there is a conflict
  std::string mime_type = "application/octet-stream";
  // The size of a file that is read piece by piece, if it is known: a room then refuses a file at
  // once if it is too large, and at its end if it is too short.
  std::optional<std::uint64_t> size = {};
};

struct RoomFileContent {
  std::string name;
  std::string mime_type;
  std::string bytes;
};

// The files of a room, which outlive participants and the server's restarts. Paths are relative, as
// in "in/a.txt"; "" is the root. Valid while the program's own Room is. May be used from any
// thread, and waits for results. Throws an Error: not_found, forbidden for what the token does not
// allow, invalid_argument for a path that cannot be one, conflict, unavailable while there is no
// connection or if the room cannot do it, outcome_unknown if the connection is lost meanwhile,
// timeout if the room says nothing for a minute. reason() is the room's code, such as "room_3005".
class RoomStorage final {
 public:
  // The files in a folder, by name; none if there is no such folder.
  std::vector<RoomFile> list(std::string_view path = "") const;
  bool exists(std::string_view path) const;
  // Nothing if there is no such file or folder.
  std::optional<RoomFile> stat(std::string_view path) const;
  // A folder only with `recursive`, else conflict.
  void remove(std::string_view path, bool recursive = false) const;
  // A file or a folder. conflict: the destination is there, unless it is to be overwritten.
  void move(std::string_view source, std::string_view destination, bool overwrite = false) const;
  // An address from which anyone can read the file for a while.
  std::string download_url(std::string_view path) const;

  // Returns once the file is durable. conflict: it is there, unless it is to be overwritten. A file
  // whose upload fails is as it was.
  void upload(std::string_view path, std::string_view bytes, RoomUploadOptions options = {}) const;
  // The same for a large file: `read` gives the next bytes, at most as many as it is told, and none
  // at the end. It is called on this thread, and its exceptions pass through.
  using Read = std::function<std::string(std::size_t bytes_max)>;
  void upload(std::string_view path, const Read& read, RoomUploadOptions options = {}) const;

  RoomFileContent download(std::string_view path) const;
  // The same for a large file: `write` takes the next bytes, on this thread, and its exceptions
  // pass through. Gives the file without its bytes.
  using Write = std::function<void(std::string_view bytes)>;
  RoomFileContent download(std::string_view path, const Write& write) const;

 private:
  friend class Room;
  explicit RoomStorage(std::shared_ptr<sdk::RoomCore> core);

  std::shared_ptr<sdk::RoomCore> core_;
};

}  // namespace errand::ERRAND_V1
