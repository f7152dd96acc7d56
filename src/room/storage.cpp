#include "room/storage.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::room {
namespace {

Content denied_path() {
  return error_content(RoomCode::permission_denied, "the token does not allow this path");
}

Content no_such_file(std::string_view path) {
  return error_content(RoomCode::file_not_found, cat("file ", path, " was not found"));
}

Content file_there(std::string_view path) {
  return error_content(RoomCode::file_exists, cat(path, " exists already"));
}

Content bad_path() {
  return error_content(RoomCode::invalid_path, "the path is not valid");
}

Content storage_failed(std::string_view why) {
  return error_content(RoomCode::operation_failed, why);
}

json::Object entry_json(std::string_view name, const StoredFile* file) {
  json::Object entry{{"name", name}, {"is_folder", file == nullptr}};
  if (!file) {
    entry["size"] = nullptr;
    entry["created_at"] = nullptr;
    entry["updated_at"] = nullptr;
    return entry;
  }
  entry["size"] = file->size;
  entry["created_at"] = to_iso8601(file->created_at);
  entry["updated_at"] = to_iso8601(file->updated_at);
  return entry;
}

// A path in the arguments; empty if it is not valid.
std::optional<std::string> path_at(const json::Value& arguments, std::string_view key,
                                   std::size_t bytes_max) {
  auto path = storage_path(json::text_at(arguments.if_object(), key));
  if (path && path->size() > bytes_max) return std::nullopt;
  return path;
}

}  // namespace

void Storage::when_read(Then then, Refuse refuse) {
  if (state_ == State::ready) return then();
  if (waiting_.size() >= deps_.limits.file_calls_waiting_max) {
    return refuse(storage_failed("too many calls wait for the files to be read"));
  }
  waiting_.push_back({.then = std::move(then), .refuse = std::move(refuse)});
  if (state_ == State::reading) return;
  state_ = State::reading;
  deps_.store.load_files([this](Result<std::vector<StoredFile>> files) { read(std::move(files)); });
}

void Storage::read(Result<std::vector<StoredFile>> files) {
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  if (!files) {
    state_ = State::unread;
    for (const Waiting& one : waiting) one.refuse(storage_failed(files.error().message()));
    return;
  }
  state_ = State::ready;
  files_.clear();
  for (StoredFile& file : *files) files_.put(std::move(file));
  for (const Waiting& one : waiting) one.then();
}

void Storage::serve(StorageCall call) {
  auto kept = std::make_shared<const StorageCall>(std::move(call));
  when_read([this, kept] { run(*kept); }, kept->answer);
}

void Storage::run(const StorageCall& call) {
  if (call.tool == "move") return move(call);
  const bool is_known = call.tool == "list" || call.tool == "exists" || call.tool == "stat" ||
                        call.tool == "delete" || call.tool == "download_url";
  if (!is_known) {
    return call.answer(
        error_content(RoomCode::not_found, cat("tool ", call.tool, " was not found")));
  }
  auto path = path_at(call.arguments, "path", deps_.limits.file_path_bytes_max);
  if (!path) return call.answer(bad_path());
  if (call.tool == "list") return list(call, *path);
  if (call.tool == "delete") return remove(call, *path);
  if (!call.user.grant.allows(FileAction::read, *path)) return call.answer(denied_path());
  if (call.tool == "stat") return stat(call, *path);
  if (call.tool == "download_url") return download_url(call, *path);
  call.answer(
      json_content(json::Object{{"exists", files_.kind_of(*path) != FileIndex::Kind::nothing}}));
}

void Storage::list(const StorageCall& call, const std::string& path) {
  const StorageGrant& grant = call.user.grant;
  if (!grant.allows_listing(path)) return call.answer(denied_path());
  json::Array entries;
  for (const FileIndex::Entry& entry : files_.entries(path)) {
    const std::string full = path.empty() ? entry.name : cat(path, "/", entry.name);
    if (entry.file ? !grant.allows(FileAction::list, full) : !grant.allows_listing(full)) continue;
    entries.push_back(entry_json(entry.name, entry.file));
  }
  call.answer(json_content(json::Object{{"files", std::move(entries)}}));
}

void Storage::stat(const StorageCall& call, const std::string& path) {
  json::Object answer{{"exists", files_.kind_of(path) != FileIndex::Kind::nothing}};
  if (files_.kind_of(path) != FileIndex::Kind::nothing) {
    for (auto& [key, value] : entry_json(name_of_path(path), files_.find(path))) {
      answer[key] = value;
    }
  }
  call.answer(json_content(std::move(answer)));
}

void Storage::download_url(const StorageCall& call, const std::string& path) {
  if (!files_.find(path)) return call.answer(no_such_file(path));
  if (!deps_.make_file_url) return call.answer(storage_failed("this room has no URLs for files"));
  deps_.make_file_url({.room_url = call.user.room_url, .path = path},
                      [answer = call.answer](const Result<std::string>& url) {
                        answer(url ? json_content(json::Object{{"url", *url}})
                                   : storage_failed(url.error().message()));
                      });
}

void Storage::remove(const StorageCall& call, const std::string& path) {
  if (path.empty()) return call.answer(bad_path());
  enqueue(
      {.plan = [this, call, path](Planned& planned) { return plan_removal(call, path, planned); },
       .done = call.answer});
}

std::optional<Content> Storage::plan_removal(const StorageCall& call, const std::string& path,
                                             Planned& planned) const {
  const StorageGrant& grant = call.user.grant;
  const FileIndex::Kind kind = files_.kind_of(path);
  const bool is_folder = kind == FileIndex::Kind::folder;
  if (is_folder ? !grant.allows_tree(FileAction::delete_, path)
                : !grant.allows(FileAction::delete_, path)) {
    return denied_path();
  }
  if (kind == FileIndex::Kind::nothing) return no_such_file(path);
  if (is_folder && !json::flag_at(call.arguments.if_object(), "recursive")) {
    return error_content(RoomCode::recursive_required,
                         cat(path, " is a folder, which is deleted only with recursive"));
  }
  std::vector<const StoredFile*> files = files_.below(path);
  if (!is_folder) files = {files_.find(path)};
  for (const StoredFile* file : files) {
    planned.changes.removed.push_back(file->path);
    planned.changes.dropped.push_back(file->content);
  }
  planned.event = {
      .kind = FileEvent::Kind::deleted, .path = path, .participant_id = call.user.participant_id};
  return std::nullopt;
}

void Storage::move(const StorageCall& call) {
  const std::size_t bytes_max = deps_.limits.file_path_bytes_max;
  auto from = path_at(call.arguments, "source_path", bytes_max);
  auto to = path_at(call.arguments, "destination_path", bytes_max);
  if (!from || !to || from->empty() || to->empty()) return call.answer(bad_path());
  enqueue({.plan = [this, call, from = *from,
                    to = *to](Planned& planned) { return plan_move(call, from, to, planned); },
           .done = call.answer});
}

std::optional<Content> Storage::plan_move(const StorageCall& call, const std::string& from,
                                          const std::string& to, Planned& planned) const {
  const StorageGrant& grant = call.user.grant;
  const FileIndex::Kind kind = files_.kind_of(from);
  const bool is_folder = kind == FileIndex::Kind::folder;
  auto allows = [&](FileAction action, const std::string& path) {
    return is_folder ? grant.allows_tree(action, path) : grant.allows(action, path);
  };
  if (!allows(FileAction::read, from) || !allows(FileAction::delete_, from) ||
      !allows(FileAction::write, to)) {
    return denied_path();
  }
  if (kind == FileIndex::Kind::nothing) return no_such_file(from);
  if (is_below(to, from)) return bad_path();
  if (is_below(from, to)) return file_there(to);
  const bool overwrite = json::flag_at(call.arguments.if_object(), "overwrite");
  std::vector<const StoredFile*> files = files_.below(from);
  if (!is_folder) files = {files_.find(from)};
  for (const StoredFile* file : files) {
    StoredFile moved = *file;
    moved.path = cat(to, std::string_view(file->path).substr(from.size()));
    if (moved.path.size() > deps_.limits.file_path_bytes_max) return bad_path();
    const StoredFile* replaced = files_.find(moved.path);
    if ((replaced && !overwrite) || !files_.can_be_file(moved.path)) return file_there(moved.path);
    if (replaced) planned.changes.dropped.push_back(replaced->content);
    planned.changes.removed.push_back(file->path);
    planned.changes.put.push_back(std::move(moved));
  }
  planned.event = {.kind = FileEvent::Kind::moved,
                   .path = from,
                   .destination = to,
                   .participant_id = call.user.participant_id};
  return std::nullopt;
}

std::optional<Content> Storage::refuse_put(const std::string& path, bool overwrite,
                                           std::uint64_t bytes) const {
  const StoredFile* there = files_.find(path);
  if ((there && !overwrite) || !files_.can_be_file(path)) return file_there(path);
  if (bytes > deps_.limits.file_bytes_max) return storage_failed("the file is too large");
  if (!there && files_.size() >= deps_.limits.files_max) {
    return storage_failed("the room has too many files");
  }
  if (files_.bytes() - (there ? there->size : 0) + bytes > deps_.limits.files_bytes_max) {
    return storage_failed("the room's files take too much space");
  }
  return std::nullopt;
}

void Storage::enqueue(Change change) {
  if (changes_.size() >= deps_.limits.file_calls_waiting_max) {
    return change.done(storage_failed("too many changes of files are under way"));
  }
  auto kept = std::make_shared<Change>(std::move(change));
  when_read(
      [this, kept] {
        changes_.push_back(std::move(*kept));
        next_change();
      },
      kept->done);
}

void Storage::next_change() {
  while (!is_changing_ && !changes_.empty()) {
    auto planned = std::make_shared<Planned>();
    if (auto refusal = changes_.front().plan(*planned)) {
      Change refused = std::move(changes_.front());
      changes_.pop_front();
      refused.done(*refusal);
      continue;
    }
    is_changing_ = true;
    FileChanges changes = planned->changes;
    deps_.store.change_files(
        std::move(changes), [this, planned](const Result<void>& done) { changed(*planned, done); });
  }
}

void Storage::changed(const Planned& planned, const Result<void>& done) {
  Change change = std::move(changes_.front());
  changes_.pop_front();
  is_changing_ = false;
  if (done) {
    for (const std::string& path : planned.changes.removed) files_.remove(path);
    for (const StoredFile& file : planned.changes.put) files_.put(file);
    for (const std::string& content : planned.changes.dropped) drop(content);
    change.done(empty_content());
    deps_.tell(planned.event);
    return next_change();
  }
  // It is not known whether the change was made, so all participants look again.
  change.done(storage_failed(done.error().message()));
  state_ = State::unread;
  std::deque<Change> waiting = std::exchange(changes_, {});
  for (Change& one : waiting) enqueue(std::move(one));
}

void Storage::hold(const std::string& content) {
  ++held_[content];
}

void Storage::release(const std::string& content) {
  auto held = held_.find(content);
  if (--held->second > 0) return;
  held_.erase(held);
  auto unwanted = unwanted_.find(content);
  if (unwanted == unwanted_.end()) return;
  unwanted_.erase(unwanted);
  deps_.store.drop_content(content);
}

void Storage::drop(const std::string& content) {
  if (held_.contains(content)) {
    unwanted_.insert(content);
  } else {
    deps_.store.drop_content(content);
  }
}

}  // namespace errand::room
