#include "engine/records/room_keys.hpp"

#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::string_view kRoomKeyKind = "room_key";
constexpr std::size_t kUuidBytes = 16;
constexpr std::size_t kSecretBytes = 32;

RecordKey room_key_place(const WorkspaceSlug& workspace, std::string id) {
  return {.workspace = workspace, .kind = std::string(kRoomKeyKind), .id = std::move(id)};
}

// The record that says which workspace a key belongs to. No route reads records of this kind.
RecordKey room_key_owner(std::string id) {
  return {
      .workspace = *WorkspaceSlug::parse("default"), .kind = "room_key_owner", .id = std::move(id)};
}

// Makes a random UUID (version 4) of `bytes`, of which there must be at least 16.
std::string uuid_of(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string uuid;
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == 6) byte = static_cast<unsigned char>((byte & 0x0fU) | 0x40U);
    if (i == 8) byte = static_cast<unsigned char>((byte & 0x3fU) | 0x80U);
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid.push_back('-');
    uuid.push_back(kHex[byte >> 4U]);
    uuid.push_back(kHex[byte & 15U]);
  }
  return uuid;
}

std::string derived_uuid(std::string_view what, const WorkspaceSlug& workspace) {
  crypto::Sha256 hash = crypto::sha256(cat("errand ", what, "\n", workspace.view()));
  return uuid_of({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

Error no_such_room_key() {
  return {ErrorCode::not_found, "there is no such room key"};
}

RoomKeyInfo info_of_key(const Record& record, const json::Value& body) {
  return {.id = record.key.id,
          .name = std::string(json::text_at(body.if_object(), "name")),
          .created_at = record.created_at};
}

// The key that an earlier request with this Idempotency-Key made, if that request had the same
// name.
Result<RoomKey> if_named(RoomKey made, const std::string& name) {
  if (made.info.name == name) return made;
  return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
      .reason("idempotency_conflict");
}

}  // namespace

std::string RoomKeys::project_of(const WorkspaceSlug& workspace) {
  return derived_uuid("project", workspace);
}

Task<Result<RoomKey>> RoomKeys::make(WorkspaceSlug workspace, std::string id, std::string name) {
  RoomKey key{.info = {.id = id, .name = name},
              .workspace = workspace,
              .project = project_of(workspace),
              .secret = crypto::random_hex(kSecretBytes)};
  auto sealed = co_await vault_.seal_value(workspace, std::string(kRoomKeyKind), id, key.secret);
  if (!sealed) co_return std::move(sealed).error();
  std::vector<RecordChange> changes;
  changes.push_back({.key = room_key_place(workspace, id),
                     .body = json::write(json::Object{{"name", name}, {"sealed", *sealed}}),
                     .expected_version = 0});
  changes.push_back({.key = room_key_owner(id),
                     .body = json::write(json::Object{{"workspace", workspace.view()}}),
                     .expected_version = 0});
  auto outcome = co_await store_.change_records(std::move(changes));
  if (!outcome) co_return std::move(outcome).error();
  if (outcome->refused) co_return Error(ErrorCode::conflict, "there is such a room key");
  key.info.created_at = outcome->records.front().created_at;
  co_return key;
}

Task<Result<RoomKey>> RoomKeys::create(WorkspaceSlug workspace, std::string name,
                                       Idempotency idempotency) {
  const bool is_repeatable = !idempotency.key.empty();
  const std::string id = is_repeatable ? derived_uuid(cat("room key ", idempotency.key), workspace)
                                       : uuid_of(crypto::random_bytes(kUuidBytes));
  // An equal request may be creating the key at the same time; the second attempt then finds that
  // key.
  for (int attempts_left = 1;; --attempts_left) {
    if (is_repeatable) {
      auto known = co_await read(workspace, id);
      if (known) co_return if_named(std::move(*known), name);
      if (known.error().code() != ErrorCode::not_found) co_return known;
    }
    ERRAND_CO_TRY(auto keys, co_await list(workspace));
    if (keys.size() >= kKeysMax) {
      co_return Error(ErrorCode::too_large, "the workspace has too many room keys")
          .limit("roomKeys", static_cast<std::int64_t>(kKeysMax));
    }
    auto made = co_await make(workspace, id, name);
    const bool lost_race = !made && made.error().code() == ErrorCode::conflict;
    if (!lost_race || attempts_left == 0) co_return made;
  }
}

Task<Result<std::vector<RoomKeyInfo>>> RoomKeys::list(WorkspaceSlug workspace) {
  ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = workspace,
                                                            .kind = std::string(kRoomKeyKind),
                                                            .after = "",
                                                            .limit = kKeysMax + 1}));
  std::vector<RoomKeyInfo> keys;
  for (const Record& record : records) {
    auto body = json::parse(record.body);
    if (!body) co_return Error(ErrorCode::internal, "the record of a room key is damaged");
    keys.push_back(info_of_key(record, *body));
  }
  co_return keys;
}

Task<Result<void>> RoomKeys::remove(WorkspaceSlug workspace, std::string id) {
  auto known = co_await store_.find_record(room_key_place(workspace, id));
  if (!known && known.error().code() == ErrorCode::not_found) co_return no_such_room_key();
  if (!known) co_return std::move(known).error();
  std::vector<RecordChange> changes;
  changes.push_back({.key = room_key_place(workspace, id), .body = {}, .expected_version = {}});
  changes.push_back({.key = room_key_owner(id), .body = {}, .expected_version = {}});
  auto outcome = co_await store_.change_records(std::move(changes));
  if (!outcome) co_return std::move(outcome).error();
  cached_.erase(id);
  co_return Result<void>();
}

Task<Result<RoomKey>> RoomKeys::read(WorkspaceSlug workspace, std::string id) {
  auto record = co_await store_.find_record(room_key_place(workspace, id));
  if (!record && record.error().code() == ErrorCode::not_found) co_return no_such_room_key();
  if (!record) co_return std::move(record).error();
  auto body = json::parse(record->body);
  if (!body) co_return Error(ErrorCode::internal, "the record of a room key is damaged");
  std::string sealed(json::text_at(body->if_object(), "sealed"));
  auto secret =
      co_await vault_.unseal_value(workspace, std::string(kRoomKeyKind), id, std::move(sealed));
  if (!secret) co_return std::move(secret).error();
  RoomKey key{.info = info_of_key(*record, *body),
              .workspace = workspace,
              .project = project_of(workspace),
              .secret = std::move(*secret)};
  if (cached_.size() >= kCachedMax) cached_.clear();
  cached_.insert_or_assign(id, key);
  co_return key;
}

Task<Result<RoomKey>> RoomKeys::find(std::string id) {
  if (auto cached = cached_.find(id); cached != cached_.end()) co_return cached->second;
  auto owner = co_await store_.find_record(room_key_owner(id));
  if (!owner && owner.error().code() == ErrorCode::not_found) co_return no_such_room_key();
  if (!owner) co_return std::move(owner).error();
  auto body = json::parse(owner->body);
  auto workspace = WorkspaceSlug::parse(body ? json::text_at(body->if_object(), "workspace") : "");
  if (!workspace) co_return Error(ErrorCode::internal, "the record of a room key is damaged");
  co_return co_await read(*workspace, std::move(id));
}

Task<Result<RoomKey>> RoomKeys::signing_key(WorkspaceSlug workspace) {
  const std::string id = derived_uuid("room tokens", workspace);
  auto known = co_await find(id);
  if (known || known.error().code() != ErrorCode::not_found) co_return known;
  auto made = co_await make(workspace, id, "tokens of the server");
  if (made || made.error().code() != ErrorCode::conflict) co_return made;
  co_return co_await find(id);  // another request was faster
}

}  // namespace errand::engine
