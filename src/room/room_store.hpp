#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand::room {

struct StoredItem {
  std::uint64_t seq = 0;  // grows within its queue
  std::string body;       // JSON

  friend bool operator==(const StoredItem&, const StoredItem&) = default;
};

struct StoredQueue {
  std::string name;
  std::vector<StoredItem> items;  // by seq
};

// Whether a message brings its queue along, which is not stored yet.
enum class WithQueue : std::uint8_t { no, yes };

// A file, and where its bytes are: parts 0, 1, 2 ... of a content, each of `part_bytes` but the
// last. A content belongs to one file and never changes.
struct StoredFile {
  std::string path;
  std::string content;
  std::uint64_t size = 0;
  std::size_t part_bytes = 0;
  std::string mime_type;
  WallTime created_at{};
  WallTime updated_at{};

  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

// Files that change together or not at all. A content that no file names any more stays readable
// until drop_content.
struct FileChanges {
  std::vector<StoredFile> put;            // in place of the file at its path
  std::vector<std::string> removed;       // paths; none of a file in `put`
  std::vector<std::string> dropped = {};  // contents that no file names afterwards
};

// The data of a room that outlives it. Every call ends with its callback, on the room's home and
// after the call has returned, in the order of the calls. A room that is gone is called back no
// more. Changes are durable when they are reported. unavailable with reason "busy": too much is
// under way; its callback may come before the callbacks of earlier calls.
class RoomStore {
 public:
  using Done = std::function<void(Result<void>)>;
  using Loaded = std::function<void(Result<std::vector<StoredQueue>>)>;
  using LoadedFiles = std::function<void(Result<std::vector<StoredFile>>)>;
  using LoadedPart = std::function<void(Result<std::string>)>;

  virtual ~RoomStore() = default;
  virtual void load_queues(Loaded loaded) = 0;
  virtual void add_queue(std::string queue, Done done) = 0;
  // With its items.
  virtual void remove_queue(std::string queue, Done done) = 0;
  virtual void add_item(std::string queue, StoredItem item, WithQueue with_queue, Done done) = 0;
  virtual void remove_items(std::string queue, std::vector<std::uint64_t> seqs, Done done) = 0;

  virtual void load_files(LoadedFiles loaded) = 0;
  // Parts of a content that no file names are gone after a crash. begin_content comes first.
  virtual void begin_content(std::string content, Done done) = 0;
  virtual void add_part(std::string content, std::uint64_t number, std::string bytes,
                        Done done) = 0;
  // not_found: there is no such part.
  virtual void read_part(std::string content, std::uint64_t number, LoadedPart loaded) = 0;
  virtual void change_files(FileChanges changes, Done done) = 0;
  // Removes the parts of a content, unless a file names it.
  virtual void drop_content(std::string content) = 0;
};

}  // namespace errand::room
