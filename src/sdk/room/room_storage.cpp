#include <algorithm>
#include <errand/room_storage.hpp>
#include <utility>

#include "async/deadline.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "room/client/room_files.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/room/room_core.hpp"

namespace errand::v1 {
namespace {

using sdk::RoomCore;
using sdk::value_or_throw;

// The time limit of one answer of the room.
constexpr milliseconds kAnswerMax{60'000};

// Waits for the room up to the time limit.
template <class T>
T answer_of(RoomCore& core, std::function<Task<errand::Result<T>>()> ask) {
  return value_or_throw(core.wait<T>([ask = std::move(ask)] {
    return with_deadline(std::chrono::steady_clock::now() + kAnswerMax, ask());
  }));
}

json::Value call(RoomCore& core, std::string tool, json::Object arguments) {
  return answer_of<json::Value>(core,
                                [&core, tool = std::move(tool), arguments = std::move(arguments)] {
                                  return room::call_storage(&core.client(), tool, arguments);
                                });
}

json::Object call_for_object(RoomCore& core, std::string tool, json::Object arguments) {
  json::Value answer = call(core, std::move(tool), std::move(arguments));
  if (answer.is_object()) return std::move(answer.as_object());
  throw Error(ErrorCode::unavailable, "the room's answer about a file makes no sense");
}

RoomFile file_of(const json::Object& entry) {
  return {.name = std::string(json::text_at(&entry, "name")),
          .is_folder = json::flag_at(&entry, "is_folder"),
          .size = static_cast<std::uint64_t>(
              std::max<std::int64_t>(json::integer_at(&entry, "size").value_or(0), 0)),
          .created_at = std::string(json::text_at(&entry, "created_at")),
          .updated_at = std::string(json::text_at(&entry, "updated_at"))};
}

using Upload = std::shared_ptr<room::RoomUpload>;
using Download = std::shared_ptr<room::RoomDownload>;

// Each step holds its transfer, which may be given up before the step has returned.
Task<errand::Result<std::optional<std::size_t>>> wanted_by(Upload upload) {
  co_return co_await upload->wanted();
}
Task<errand::Result<bool>> write_to(Upload upload, std::string block) {
  co_return co_await upload->write(std::move(block));
}
Task<errand::Result<std::optional<std::string>>> read_from(Download download) {
  co_return co_await download->read();
}

// A transfer, which is given up on the home if this is destroyed before its end.
template <class T>
class Held final {
 public:
  Held(std::shared_ptr<RoomCore> core, std::shared_ptr<T> transfer)
      : core_(std::move(core)), transfer_(std::move(transfer)) {}
  ~Held() {
    core_->post([transfer = std::move(transfer_)]() mutable { transfer.reset(); });
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  const std::shared_ptr<T>& get() const { return transfer_; }

 private:
  std::shared_ptr<RoomCore> core_;
  std::shared_ptr<T> transfer_;
};

}  // namespace

RoomStorage::RoomStorage(std::shared_ptr<RoomCore> core) : core_(std::move(core)) {}

std::vector<RoomFile> RoomStorage::list(std::string_view path) const {
  const json::Object answer = call_for_object(*core_, "list", {{"path", path}});
  std::vector<RoomFile> out;
  const json::Array* files = json::array_at(&answer, "files");
  for (const json::Value& entry : files ? *files : json::Array()) {
    if (const json::Object* file = entry.if_object()) out.push_back(file_of(*file));
  }
  return out;
}

bool RoomStorage::exists(std::string_view path) const {
  const json::Object answer = call_for_object(*core_, "exists", {{"path", path}});
  return json::flag_at(&answer, "exists");
}

std::optional<RoomFile> RoomStorage::stat(std::string_view path) const {
  const json::Object answer = call_for_object(*core_, "stat", {{"path", path}});
  if (!json::flag_at(&answer, "exists")) return std::nullopt;
  return file_of(answer);
}

void RoomStorage::remove(std::string_view path, bool recursive) const {
  call(*core_, "delete", {{"path", path}, {"recursive", recursive}});
}

void RoomStorage::move(std::string_view source, std::string_view destination,
                       bool overwrite) const {
  call(*core_, "move",
       {{"source_path", source}, {"destination_path", destination}, {"overwrite", overwrite}});
}

std::string RoomStorage::download_url(std::string_view path) const {
  const json::Object answer = call_for_object(*core_, "download_url", {{"path", path}});
  return std::string(json::text_at(&answer, "url"));
}

void RoomStorage::upload(std::string_view path, std::string_view bytes,
                         RoomUploadOptions options) const {
  options.size = bytes.size();
  upload(
      path,
      [rest = bytes](std::size_t bytes_max) mutable {
        std::string block(rest.substr(0, bytes_max));
        rest.remove_prefix(block.size());
        return block;
      },
      std::move(options));
}

void RoomStorage::upload(std::string_view path, const Read& read, RoomUploadOptions options) const {
  room::UploadParams params{.path = std::string(path),
                            .mime_type = std::move(options.mime_type),
                            .overwrite = options.overwrite,
                            .size = options.size};
  Held held(core_, answer_of<Upload>(*core_, [core = core_.get(), params = std::move(params)] {
              return room::RoomUpload::begin(&core->client(), params);
            }));
  for (;;) {
    auto wanted = answer_of<std::optional<std::size_t>>(
        *core_, [upload = held.get()] { return wanted_by(upload); });
    if (!wanted) return;
    std::string block = read(*wanted);
    if (block.size() > *wanted) {
      throw Error(
          ErrorCode::invalid_argument,
          cat("a block of ", block.size(), " bytes was read where ", *wanted, " were asked for"));
    }
    if (block.empty()) {
      core_->post([upload = held.get()] { upload->finish(); });
      continue;
    }
    answer_of<bool>(*core_, [upload = held.get(), block = std::move(block)] {
      return write_to(upload, block);
    });
  }
}

RoomFileContent RoomStorage::download(std::string_view path) const {
  std::string bytes;
  RoomFileContent file = download(path, [&bytes](std::string_view block) { bytes += block; });
  file.bytes = std::move(bytes);
  return file;
}

RoomFileContent RoomStorage::download(std::string_view path, const Write& write) const {
  Held held(core_, answer_of<Download>(*core_, [core = core_.get(), path = std::string(path)] {
              return room::RoomDownload::begin(&core->client(), path);
            }));
  for (;;) {
    auto block = answer_of<std::optional<std::string>>(
        *core_, [download = held.get()] { return read_from(download); });
    if (!block) break;
    write(*block);
  }
  return {.name = held.get()->name(), .mime_type = held.get()->mime_type(), .bytes = {}};
}

}  // namespace errand::v1
