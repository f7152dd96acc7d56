#include "room/client/room_files.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kStorage = "storage";

// Storage requests have no unknown outcome: a room that reports an error has changed nothing.
Error storage_error(const json::Object& header) {
  Error error = error_of(header);
  if (error.code() != ErrorCode::outcome_unknown) return error;
  return Error(ErrorCode::unavailable, error.message()).reason(error.reason());
}

Error odd_answer() {
  return {ErrorCode::unavailable, "the room's answer about a file makes no sense"};
}

// Begins a transfer, and returns when the room has agreed to it.
Task<Result<RoomCallPtr>> open_transfer(RoomClient* client, std::string tool,
                                        json::Object headers) {
  ERRAND_CO_TRY(RoomCallPtr call, client->invoke({.toolkit = std::string(kStorage),
                                                  .tool = std::move(tool),
                                                  .arguments = open_content()}));
  ERRAND_CO_CHECK(co_await call->write(binary_content(std::move(headers))));
  ERRAND_CO_TRY(Content answer, co_await call->answer());
  if (is_open(answer.header)) co_return call;
  if (kind_of(answer.header) == ContentKind::error) co_return storage_error(answer.header);
  co_return odd_answer();
}

// The headers and bytes of the next chunk; empty at the end of the transfer.
struct Chunk {
  json::Object headers;
  std::string bytes;
};
Task<Result<std::optional<Chunk>>> next_chunk(RoomCallPtr call) {
  ERRAND_CO_TRY(std::optional<Content> item, co_await call->next());
  if (!item) co_return std::optional<Chunk>();
  if (kind_of(item->header) == ContentKind::error) co_return storage_error(item->header);
  const json::Object* headers = json::object_at(&item->header, "headers");
  if (kind_of(item->header) != ContentKind::binary || !headers) co_return odd_answer();
  co_return std::optional(Chunk{.headers = *headers, .bytes = std::move(item->bytes)});
}

}  // namespace

Task<Result<json::Value>> call_storage(RoomClient* client, std::string tool,
                                       json::Object arguments) {
  ERRAND_CO_TRY(RoomCallPtr call,
                client->invoke({.toolkit = std::string(kStorage),
                                .tool = std::move(tool),
                                .arguments = json_content(std::move(arguments))}));
  ERRAND_CO_TRY(Content answer, co_await call->answer());
  switch (kind_of(answer.header)) {
    case ContentKind::error: co_return storage_error(answer.header);
    case ContentKind::json: co_return answer.header.at("json");
    case ContentKind::empty: co_return json::Value();
    default: co_return odd_answer();
  }
}

Task<Result<std::shared_ptr<RoomUpload>>> RoomUpload::begin(RoomClient* client,
                                                            UploadParams params) {
  json::Object headers{{"kind", "start"},
                       {"path", params.path},
                       {"overwrite", params.overwrite},
                       {"mime_type", params.mime_type},
                       {"size", nullptr}};
  if (params.size) headers["size"] = *params.size;
  ERRAND_CO_TRY(auto call, co_await open_transfer(client, "upload", std::move(headers)));
  co_return std::shared_ptr<RoomUpload>(new RoomUpload(std::move(call)));
}

Task<Result<std::optional<std::size_t>>> RoomUpload::wanted() {
  ERRAND_CO_TRY(auto chunk, co_await next_chunk(call_));
  if (!chunk) co_return std::optional<std::size_t>();
  const std::int64_t bytes = json::integer_at(&chunk->headers, "chunk_size").value_or(0);
  if (json::text_at(&chunk->headers, "kind") != "pull" || bytes < 1) co_return odd_answer();
  co_return std::optional(static_cast<std::size_t>(bytes));
}

Task<Result<bool>> RoomUpload::write(std::string block) {
  ERRAND_CO_CHECK(co_await call_->write(binary_content({{"kind", "data"}}, std::move(block))));
  co_return true;
}

Task<Result<std::shared_ptr<RoomDownload>>> RoomDownload::begin(RoomClient* client,
                                                                std::string path) {
  json::Object headers{{"kind", "start"}, {"path", path}, {"chunk_size", kBlockBytes}};
  ERRAND_CO_TRY(auto call, co_await open_transfer(client, "download", std::move(headers)));
  std::shared_ptr<RoomDownload> made(new RoomDownload(call));
  ERRAND_CO_TRY(auto start, co_await next_chunk(std::move(call)));
  if (!start || json::text_at(&start->headers, "kind") != "start") co_return odd_answer();
  made->name_ = json::text_at(&start->headers, "name");
  made->mime_type_ = json::text_at(&start->headers, "mime_type");
  const std::int64_t size = json::integer_at(&start->headers, "size").value_or(-1);
  if (size < 0) co_return odd_answer();
  made->size_ = static_cast<std::uint64_t>(size);
  co_return made;
}

Task<Result<std::optional<std::string>>> RoomDownload::read() {
  if (given_bytes_ < size_) {
    ERRAND_CO_CHECK(co_await call_->write(binary_content({{"kind", "pull"}})));
  }
  ERRAND_CO_TRY(auto chunk, co_await next_chunk(call_));
  const bool is_whole = given_bytes_ == size_;
  if (!chunk && is_whole) co_return std::optional<std::string>();
  if (!chunk) co_return Error(ErrorCode::unavailable, "the file has ended too early");
  given_bytes_ += chunk->bytes.size();
  if (chunk->bytes.empty() || given_bytes_ > size_) co_return odd_answer();
  co_return std::optional(std::move(chunk->bytes));
}

}  // namespace errand::room
