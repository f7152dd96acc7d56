#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "json/value.hpp"
#include "room/access/grants.hpp"
#include "room/calls.hpp"
#include "room/file_index.hpp"
#include "room/room_limits.hpp"
#include "room/room_store.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

// Who uses the files of a room.
struct FileUser {
  std::string participant_id;
  StorageGrant grant;
  std::string room_url = {};                    // where the participant reaches the room
  std::shared_ptr<std::size_t> transfers = {};  // of the participant, under way
};

// A request for the address of a file.
struct FileToRead {
  std::string room_url;  // where the participant reaches the room
  std::string path;
};

// A call of the toolkit `storage`, without streams.
struct StorageCall {
  FileUser user;
  std::string tool;
  json::Value arguments;
  std::function<void(const Content&)> answer;  // does nothing once the caller has left
};

// A change of a file, as participants learn of it.
struct FileEvent {
  enum class Kind : std::uint8_t { updated, deleted, moved };
  Kind kind = Kind::updated;
  std::string path;              // of the file, or of a folder that was deleted or moved
  std::string destination = {};  // of `moved`
  std::string participant_id;
};

// The files of one room. The store has the last word: a change is answered and announced once it is
// durable, and changes are made one after the other. A file that is read keeps its bytes until the
// last reader is done.
class Storage final {
 public:
  using FileUrl = std::function<void(Result<std::string>)>;
  struct Deps {  // outlive this
    const RoomLimits& limits;
    RoomStore& store;
    const Clock& clock;
    std::function<std::string()> make_id;
    std::function<void(const FileEvent&)> tell;
    std::function<void(FileToRead file, FileUrl done)> make_file_url;  // empty: none are made
  };
  explicit Storage(Deps deps) : deps_(std::move(deps)) {}

  void serve(StorageCall call);
  static bool is_transfer(std::string_view tool);
  // An upload or a download.
  std::shared_ptr<LocalCall> begin_transfer(std::string_view tool, FileUser user,
                                            Calls::Reply reply);

 private:
  class Transfer;
  class Upload;
  class Download;
  using Then = std::function<void()>;
  using Refuse = std::function<void(const Content&)>;

  // Calls `then` once the files are read, or `refuse`.
  void when_read(Then then, Refuse refuse);
  void read(Result<std::vector<StoredFile>> files);
  void run(const StorageCall& call);
  void list(const StorageCall& call, const std::string& path);
  void stat(const StorageCall& call, const std::string& path);
  void remove(const StorageCall& call, const std::string& path);
  void move(const StorageCall& call);
  void download_url(const StorageCall& call, const std::string& path);

  // A change: looks at the files when its turn comes, and either refuses (an error) or says what to
  // change and what to tell.
  struct Planned {
    FileChanges changes;
    FileEvent event;
  };
  struct Change {
    std::function<std::optional<Content>(Planned&)> plan;
    std::function<void(const Content&)> done;  // empty, or an error
  };
  void enqueue(Change change);
  void next_change();
  void changed(const Planned& planned, const Result<void>& done);
  std::optional<Content> plan_removal(const StorageCall& call, const std::string& path,
                                      Planned& planned) const;
  std::optional<Content> plan_move(const StorageCall& call, const std::string& from,
                                   const std::string& to, Planned& planned) const;
  // Why a file of this size cannot be put at the path; nothing if it can.
  std::optional<Content> refuse_put(const std::string& path, bool overwrite,
                                    std::uint64_t bytes) const;

  void hold(const std::string& content);
  void release(const std::string& content);
  void drop(const std::string& content);

  const Deps deps_;
  enum class State : std::uint8_t { unread, reading, ready } state_ = State::unread;
  struct Waiting {
    Then then;
    Refuse refuse;
  };
  std::vector<Waiting> waiting_;  // until the files are read
  FileIndex files_;
  std::deque<Change> changes_;  // the first one is under way while `is_changing_`
  bool is_changing_ = false;
  std::map<std::string, std::size_t, std::less<>> held_;  // readers, by content
  std::set<std::string, std::less<>> unwanted_;           // held contents that no file names
  std::uint64_t uploading_bytes_ = 0;
  std::size_t transfers_ = 0;
};

}  // namespace errand::room
