#pragma once

#include <memory>
#include <optional>
#include <string>

#include "room/storage.hpp"

namespace errand::room {

// A file on its way between a participant and the store, in blocks that the receiver asks for.
// Lives until its call is over; counts among the transfers of its participant and of the room.
class Storage::Transfer : public LocalCall {
 public:
  ~Transfer() override;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

 protected:
  Transfer(Storage& storage, FileUser user, Calls::Reply reply);

  // Whether the participant may begin this one; else it is refused.
  bool is_admitted() const;

  Storage& storage_;
  const FileUser user_;
  const Calls::Reply reply_;
};

// Takes a file from its caller. The file is visible only when all of it is durable.
class Storage::Upload final : public Transfer, public std::enable_shared_from_this<Upload> {
 public:
  Upload(Storage& storage, FileUser user, Calls::Reply reply)
      : Transfer(storage, std::move(user), reply) {}
  ~Upload() override;
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  void take_input(const Content& chunk) override;

 private:
  enum class Phase : std::uint8_t { unasked, opening, taking, keeping, committing, over };

  void start(const json::Object& headers);
  void begin();
  void begun(const Result<void>& done);
  void take(const Content& chunk);
  void take_close(const Content& close);
  void go_on();
  void keep_part();
  void commit();
  void committed(const Content& outcome);
  void fail(const Content& error);
  std::optional<Content> plan(Planned& planned) const;

  Phase phase_ = Phase::unasked;
  std::string path_;
  std::string mime_type_;
  bool overwrite_ = false;
  bool input_is_closed_ = false;
  std::optional<std::uint64_t> size_;  // as the caller said
  std::string content_;                // empty: nothing is stored
  std::string part_;                   // the part that is being filled
  std::uint64_t parts_ = 0;
  std::uint64_t taken_bytes_ = 0;
};

// Gives a file to its caller.
class Storage::Download final : public Transfer, public std::enable_shared_from_this<Download> {
 public:
  Download(Storage& storage, FileUser user, Calls::Reply reply)
      : Transfer(storage, std::move(user), reply) {}
  ~Download() override;
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  void take_input(const Content& chunk) override;

 private:
  void start(const json::Object& headers);
  void begin(const std::string& path);
  void give_blocks();
  void read_part();
  void got_part(Result<std::string> part);

  std::size_t block_bytes_ = 0;
  bool has_started_ = false;
  bool is_reading_ = false;
  std::size_t pulls_ = 0;  // blocks that the caller waits for
  std::optional<StoredFile> file_;
  std::uint64_t given_bytes_ = 0;
  std::string part_;  // holds the next byte; empty: it has to be read
};

}  // namespace errand::room
