#include "room/transfers.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::room {
namespace {

// The size of the store's parts, and of the blocks that clients are asked for.
constexpr std::size_t kPartBytes = 256U * 1024;
constexpr std::size_t kBlockBytes = 64U * 1024;
// The largest block that a client may ask for; larger ones are shortened.
constexpr std::size_t kBlockBytesMax = 1024U * 1024;
// The most blocks that a client may ask for in advance.
constexpr std::size_t kPullsMax = 64;
constexpr std::int64_t kNormalClose = 1000;
constexpr std::size_t kMimeTypeBytesMax = 255;
constexpr std::string_view kAnyMimeType = "application/octet-stream";

Content bad_transfer(std::string_view why) {
  return error_content(RoomCode::invalid_request, why);
}

const json::Object* binary_headers(const Content& chunk) {
  if (room::kind_of(chunk.header) != ContentKind::binary) return nullptr;
  return json::object_at(&chunk.header, "headers");
}

// The type becomes a header of HTTP answers, so it must have no line breaks.
std::string fit_mime_type(std::string_view given) {
  const bool is_plain =
      std::all_of(given.begin(), given.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (given.empty() || given.size() > kMimeTypeBytesMax || !is_plain) {
    return std::string(kAnyMimeType);
  }
  return std::string(given);
}

}  // namespace

bool Storage::is_transfer(std::string_view tool) {
  return tool == "upload" || tool == "download";
}

std::shared_ptr<LocalCall> Storage::begin_transfer(std::string_view tool, FileUser user,
                                                   Calls::Reply reply) {
  if (tool == "upload") return std::make_shared<Upload>(*this, std::move(user), reply);
  return std::make_shared<Download>(*this, std::move(user), reply);
}

Storage::Transfer::Transfer(Storage& storage, FileUser user, Calls::Reply reply)
    : storage_(storage), user_(std::move(user)), reply_(reply) {
  ++*user_.transfers;
  ++storage_.transfers_;
}

Storage::Transfer::~Transfer() {
  --*user_.transfers;
  --storage_.transfers_;
}

bool Storage::Transfer::is_admitted() const {
  const RoomLimits& limits = storage_.deps_.limits;
  const bool fits = *user_.transfers <= limits.transfers_of_one_max &&
                    storage_.transfers_ <= limits.transfers_max;
  if (fits) return true;
  reply_.fail(error_content(RoomCode::operation_failed, "too many transfers are under way"));
  return false;
}

Storage::Upload::~Upload() {
  storage_.uploading_bytes_ -= taken_bytes_;
  // A committed content belongs to its file and is kept.
  if (!content_.empty()) storage_.deps_.store.drop_content(content_);
}

void Storage::Upload::take_input(const Content& chunk) {
  if (phase_ == Phase::over) return;
  if (is_close(chunk.header)) return take_close(chunk);
  const json::Object* headers = binary_headers(chunk);
  if (!headers) return fail(bad_transfer("an upload takes binary chunks"));
  if (phase_ == Phase::unasked) return start(*headers);
  if (phase_ != Phase::taking) return fail(bad_transfer("a block arrived that was not requested"));
  take(chunk);
}

void Storage::Upload::start(const json::Object& headers) {
  if (json::text_at(&headers, "kind") != "start") {
    return fail(bad_transfer("an upload begins with a chunk of kind start"));
  }
  if (!is_admitted()) return;
  auto path = storage_path(json::text_at(&headers, "path"));
  if (!path || path->empty() || path->size() > storage_.deps_.limits.file_path_bytes_max) {
    return fail(error_content(RoomCode::invalid_path, "the path is not valid"));
  }
  if (!user_.grant.allows(FileAction::write, *path)) {
    return fail(error_content(RoomCode::permission_denied, "the token does not allow this path"));
  }
  if (const json::Value* size = headers.if_contains("size"); size && !size->is_null()) {
    auto bytes = json::integer_at(&headers, "size");
    if (!bytes || *bytes < 0) return fail(bad_transfer("the size is not a number of bytes"));
    size_ = static_cast<std::uint64_t>(*bytes);
  }
  path_ = std::move(*path);
  overwrite_ = json::flag_at(&headers, "overwrite");
  mime_type_ = fit_mime_type(json::text_at(&headers, "mime_type"));
  phase_ = Phase::opening;
  auto weak = weak_from_this();
  storage_.when_read(
      [weak] {
        if (auto self = weak.lock()) self->begin();
      },
      [weak](const Content& why) {
        if (auto self = weak.lock()) self->fail(why);
      });
}

void Storage::Upload::begin() {
  if (phase_ != Phase::opening) return;
  if (auto refusal = storage_.refuse_put(path_, overwrite_, size_.value_or(0))) {
    return fail(*refusal);
  }
  content_ = storage_.deps_.make_id();
  storage_.deps_.store.begin_content(content_, [weak = weak_from_this()](const Result<void>& done) {
    if (auto self = weak.lock()) self->begun(done);
  });
}

void Storage::Upload::begun(const Result<void>& done) {
  if (phase_ == Phase::over) return;
  if (!done) return fail(error_content(RoomCode::operation_failed, done.error().message()));
  reply_.answer(open_content());
  go_on();
}

// Asks for the next block, or ends.
void Storage::Upload::go_on() {
  if (size_ == taken_bytes_ || (!size_ && input_is_closed_)) {
    return part_.empty() ? commit() : keep_part();
  }
  if (input_is_closed_) return fail(bad_transfer("the upload ended before all bytes came"));
  phase_ = Phase::taking;
  reply_.output(binary_content({{"kind", "pull"}, {"chunk_size", kBlockBytes}}));
}

void Storage::Upload::take(const Content& chunk) {
  const json::Object* headers = binary_headers(chunk);
  if (json::text_at(headers, "kind") != "data") {
    return fail(bad_transfer("an upload continues with chunks of kind data"));
  }
  const std::uint64_t bytes = chunk.bytes.size();
  if (bytes > kBlockBytes) return fail(bad_transfer("the block is larger than it may be"));
  if (size_ && taken_bytes_ + bytes > *size_) {
    return fail(bad_transfer("more bytes came than the upload has"));
  }
  taken_bytes_ += bytes;
  storage_.uploading_bytes_ += bytes;
  const RoomLimits& limits = storage_.deps_.limits;
  if (taken_bytes_ > limits.file_bytes_max ||
      storage_.files_.bytes() + storage_.uploading_bytes_ > limits.files_bytes_max) {
    return fail(error_content(RoomCode::operation_failed, "the file is too large"));
  }
  part_ += chunk.bytes;
  if (part_.size() >= kPartBytes) return keep_part();
  go_on();
}

// Only a normal close says that all bytes were sent.
void Storage::Upload::take_close(const Content& close) {
  if (phase_ == Phase::committing) return;
  if (json::integer_at(&close.header, "status_code").value_or(kNormalClose) != kNormalClose) {
    return fail(bad_transfer("the upload was given up"));
  }
  input_is_closed_ = true;
  if (phase_ == Phase::unasked) return fail(bad_transfer("the upload ended before it began"));
  if (phase_ == Phase::taking) go_on();
}

// Called when a part is full, and for the last one. The next block is asked for when the part is
// stored.
void Storage::Upload::keep_part() {
  phase_ = Phase::keeping;
  std::string part = part_.substr(0, kPartBytes);
  part_.erase(0, part.size());
  storage_.deps_.store.add_part(
      content_, parts_++, std::move(part), [weak = weak_from_this()](const Result<void>& done) {
        auto self = weak.lock();
        if (!self || self->phase_ == Phase::over) return;
        if (done) return self->go_on();
        self->fail(error_content(RoomCode::operation_failed, done.error().message()));
      });
}

std::optional<Content> Storage::Upload::plan(Planned& planned) const {
  if (auto refusal = storage_.refuse_put(path_, overwrite_, taken_bytes_)) return refusal;
  const StoredFile* former = storage_.files_.find(path_);
  const WallTime now = storage_.deps_.clock.now();
  planned.changes.put.push_back({.path = path_,
                                 .content = content_,
                                 .size = taken_bytes_,
                                 .part_bytes = kPartBytes,
                                 .mime_type = mime_type_,
                                 .created_at = former ? former->created_at : now,
                                 .updated_at = now});
  if (former) planned.changes.dropped.push_back(former->content);
  planned.event = {
      .kind = FileEvent::Kind::updated, .path = path_, .participant_id = user_.participant_id};
  return std::nullopt;
}

// From here on the file is stored, even if its sender leaves.
void Storage::Upload::commit() {
  phase_ = Phase::committing;
  auto self = shared_from_this();
  storage_.enqueue({.plan = [self](Planned& planned) { return self->plan(planned); },
                    .done = [self](const Content& outcome) { self->committed(outcome); }});
}

void Storage::Upload::committed(const Content& outcome) {
  if (room::kind_of(outcome.header) == ContentKind::error) return fail(outcome);
  content_.clear();
  phase_ = Phase::over;
  reply_.output(close_content());
}

void Storage::Upload::fail(const Content& error) {
  phase_ = Phase::over;
  reply_.fail(error);
}

Storage::Download::~Download() {
  if (file_) storage_.release(file_->content);
}

void Storage::Download::take_input(const Content& chunk) {
  // A caller that wants no more closes its input.
  if (is_close(chunk.header)) {
    if (!file_) return reply_.fail(bad_transfer("the download ended before it began"));
    return reply_.output(close_content());
  }
  const json::Object* headers = binary_headers(chunk);
  if (!headers) return reply_.fail(bad_transfer("a download takes binary chunks"));
  if (!has_started_) return start(*headers);
  if (json::text_at(headers, "kind") != "pull") {
    return reply_.fail(bad_transfer("a download continues with chunks of kind pull"));
  }
  pulls_ = std::min(pulls_ + 1, kPullsMax);
  if (file_) give_blocks();
}

void Storage::Download::start(const json::Object& headers) {
  has_started_ = true;
  if (json::text_at(&headers, "kind") != "start") {
    return reply_.fail(bad_transfer("a download begins with a chunk of kind start"));
  }
  if (!is_admitted()) return;
  auto path = storage_path(json::text_at(&headers, "path"));
  if (!path) return reply_.fail(error_content(RoomCode::invalid_path, "the path is not valid"));
  if (!user_.grant.allows(FileAction::read, *path)) {
    return reply_.fail(
        error_content(RoomCode::permission_denied, "the token does not allow this path"));
  }
  const auto asked = json::integer_at(&headers, "chunk_size").value_or(kBlockBytes);
  block_bytes_ =
      asked < 1 ? kBlockBytes : std::min(static_cast<std::size_t>(asked), kBlockBytesMax);
  storage_.when_read(
      [weak = weak_from_this(), path = *path] {
        if (auto self = weak.lock()) self->begin(path);
      },
      [reply = reply_](const Content& why) { reply.fail(why); });
}

void Storage::Download::begin(const std::string& path) {
  const StoredFile* file = storage_.files_.find(path);
  if (!file) {
    return reply_.fail(
        error_content(RoomCode::file_not_found, cat("file ", path, " was not found")));
  }
  file_ = *file;
  storage_.hold(file_->content);
  reply_.answer(open_content());
  reply_.output(binary_content({{"kind", "start"},
                                {"name", name_of_path(path)},
                                {"mime_type", file_->mime_type},
                                {"size", file_->size}}));
  if (file_->size == 0) return reply_.output(close_content());
  give_blocks();
}

// Sends as many blocks as were asked for. A block ends where its part ends.
void Storage::Download::give_blocks() {
  while (pulls_ > 0 && !is_reading_) {
    if (part_.empty()) return read_part();
    const std::size_t place = static_cast<std::size_t>(given_bytes_ % file_->part_bytes);
    std::string block = part_.substr(std::min(place, part_.size()), block_bytes_);
    if (block.empty()) {
      return reply_.fail(error_content(RoomCode::operation_failed, "the file is damaged"));
    }
    given_bytes_ += block.size();
    --pulls_;
    if (given_bytes_ % file_->part_bytes == 0) part_.clear();
    reply_.output(binary_content({{"kind", "data"}}, std::move(block)));
    if (given_bytes_ >= file_->size) return reply_.output(close_content());
  }
}

void Storage::Download::read_part() {
  is_reading_ = true;
  storage_.deps_.store.read_part(file_->content, given_bytes_ / file_->part_bytes,
                                 [weak = weak_from_this()](Result<std::string> part) {
                                   if (auto self = weak.lock()) self->got_part(std::move(part));
                                 });
}

void Storage::Download::got_part(Result<std::string> part) {
  is_reading_ = false;
  if (!part) {
    return reply_.fail(error_content(RoomCode::operation_failed, part.error().message()));
  }
  if (part->empty()) {
    return reply_.fail(error_content(RoomCode::operation_failed, "the file is damaged"));
  }
  part_ = std::move(*part);
  give_blocks();
}

}  // namespace errand::room
