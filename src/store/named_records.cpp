#include "store/named_records.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"

namespace errand {
namespace {

// Two writers without an expected version both succeed, one after the other.
constexpr int kAttempts = 5;

// A record's body in the store: the fingerprint of the request that made it, its name, and what the
// caller keeps, each on a line of its own.
std::string stored_body(std::string_view fingerprint, std::string_view name,
                        std::string_view body) {
  return cat(fingerprint, "\n", name, "\n", body);
}

struct Stored {
  std::string fingerprint;
  NamedRecord record;
};

Stored read_stored(Record record) {
  std::string_view rest = record.body;
  Stored out;
  out.fingerprint = take_line(rest);
  out.record.name = take_line(rest);
  out.record.id = record.key.id;
  out.record.version = record.version;
  out.record.created_at = record.created_at;
  out.record.updated_at = record.updated_at;
  out.record.body = rest;
  return out;
}

Error version_mismatch(std::string_view kind, std::string_view name) {
  return Error(ErrorCode::conflict,
               cat("the ", kind, " \"", utf8_prefix(name, 80), "\" has a different version"))
      .reason(NamedRecords::kVersionMismatch)
      .hint("read it again, and send its ETag as If-Match");
}

Error name_taken(std::string_view kind, std::string_view name) {
  return Error(ErrorCode::conflict, cat("another ", kind, " is called \"", name, "\""))
      .reason("name_taken")
      .pointer("/name");
}

bool is_refusal(const Error& error) {
  return error.reason() == NamedRecords::kVersionMismatch;
}

std::string version_id(std::string_view id, std::int64_t version) {
  constexpr std::size_t kDigits = 10;  // the order of the texts is the order of the numbers
  std::string digits = std::to_string(version);
  return cat(id, ".", std::string(kDigits - std::min(kDigits, digits.size()), '0'), digits);
}

}  // namespace

bool is_valid_record_name(std::string_view name) {
  return !name.empty() && name.size() <= kRecordNameCharsMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

NamedRecords::NamedRecords(Store& store, IdSource& ids, std::string kind)
    : store_(store), ids_(ids), kind_(std::move(kind)) {}

RecordKey NamedRecords::key(const WorkspaceSlug& workspace, std::string id) const {
  return {.workspace = workspace, .kind = kind_, .id = std::move(id)};
}

RecordKey NamedRecords::version_key(const WorkspaceSlug& workspace, std::string_view id,
                                    std::int64_t version) const {
  return {.workspace = workspace, .kind = cat(kind_, "_version"), .id = version_id(id, version)};
}

RecordKey NamedRecords::name_key(const WorkspaceSlug& workspace, std::string name) const {
  return {.workspace = workspace, .kind = cat(kind_, "_name"), .id = std::move(name)};
}

Error NamedRecords::not_there(std::string_view id_or_name) const {
  return {ErrorCode::not_found,
          cat("there is no ", kind_, " \"", utf8_prefix(id_or_name, 80), "\"")};
}

Task<Result<SavedRecord>> NamedRecords::make(WorkspaceSlug workspace, std::string id,
                                             std::string name, std::string body,
                                             std::string fingerprint) {
  std::string stored = stored_body(fingerprint, name, body);
  std::vector<RecordChange> changes;
  changes.push_back({.key = key(workspace, id), .body = stored, .expected_version = 0});
  changes.push_back({.key = name_key(workspace, name), .body = id, .expected_version = 0});
  changes.push_back({.key = version_key(workspace, id, 1), .body = stored, .expected_version = 0});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (outcome.refused == 0U) co_return version_mismatch(kind_, name);
  if (outcome.refused) co_return name_taken(kind_, name);
  Stored made = read_stored(std::move(outcome.records.front()));
  co_return SavedRecord{.record = std::move(made.record), .is_new = true};
}

Task<Result<SavedRecord>> NamedRecords::create(WorkspaceSlug workspace, std::string name,
                                               std::string body, Idempotency idempotency) {
  constexpr std::size_t kIdDigits = 24;
  std::string id = ids_.make<struct RecordIdTag>(cat(kind_, "_")).str();
  if (!idempotency.key.empty()) {
    // The id is derived from the key, so that the store recognises a repeated request.
    std::string of = cat(workspace.view(), "\n", kind_, "\n", idempotency.key);
    id = cat(kind_, "_", crypto::to_hex(crypto::sha256(of)).substr(0, kIdDigits));
  }
  auto made =
      co_await make(workspace, id, std::move(name), std::move(body), idempotency.fingerprint);
  if (made || !is_refusal(made.error())) co_return made;
  ERRAND_CO_TRY(auto known, co_await store_.find_record(key(workspace, id)));
  Stored first = read_stored(std::move(known));
  if (first.fingerprint == idempotency.fingerprint) {
    co_return SavedRecord{.record = std::move(first.record), .is_new = true};
  }
  co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
      .reason("idempotency_conflict");
}

Task<Result<NamedRecord>> NamedRecords::find(WorkspaceSlug workspace, std::string id_or_name) {
  auto by_id = co_await store_.find_record(key(workspace, id_or_name));
  if (by_id) co_return read_stored(std::move(*by_id)).record;
  if (by_id.error().code() != ErrorCode::not_found) co_return std::move(by_id).error();
  auto named = co_await store_.find_record(name_key(workspace, id_or_name));
  if (!named && named.error().code() == ErrorCode::not_found) co_return not_there(id_or_name);
  if (!named) co_return std::move(named).error();
  ERRAND_CO_TRY(auto record, co_await store_.find_record(key(workspace, named->body)));
  co_return read_stored(std::move(record)).record;
}

Task<Result<SavedRecord>> NamedRecords::replace(WorkspaceSlug workspace, NamedRecord known,
                                                std::string name, std::string body) {
  // The record keeps the fingerprint of the request that created it.
  ERRAND_CO_TRY(auto record, co_await store_.find_record(key(workspace, known.id)));
  std::string stored = stored_body(read_stored(std::move(record)).fingerprint, name, body);
  const std::int64_t version = known.version + 1;
  std::vector<RecordChange> changes;
  changes.push_back(
      {.key = key(workspace, known.id), .body = stored, .expected_version = known.version});
  if (name != known.name) {
    changes.push_back({.key = name_key(workspace, name), .body = known.id, .expected_version = 0});
    changes.push_back({.key = name_key(workspace, known.name), .body = {}});
  }
  changes.push_back({.key = version_key(workspace, known.id, version), .body = std::move(stored)});
  if (version > kVersionsKept) {
    changes.push_back(
        {.key = version_key(workspace, known.id, version - kVersionsKept), .body = {}});
  }
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (outcome.refused == 0U) co_return version_mismatch(kind_, known.name);
  if (outcome.refused) co_return name_taken(kind_, name);
  Stored saved = read_stored(std::move(outcome.records.front()));
  co_return SavedRecord{.record = std::move(saved.record)};
}

Task<Result<SavedRecord>> NamedRecords::put(WorkspaceSlug workspace, std::string id_or_name,
                                            std::string name, std::string body,
                                            ExpectedVersion expected) {
  for (int attempt = 1;; ++attempt) {
    auto known = co_await find(workspace, id_or_name);
    if (!known && known.error().code() != ErrorCode::not_found) co_return std::move(known).error();
    const std::int64_t version = known ? known->version : 0;
    if (expected && *expected != version) co_return version_mismatch(kind_, id_or_name);
    if (!known && name != id_or_name) co_return std::move(known).error();
    Result<SavedRecord> saved = not_there(id_or_name);
    if (known) {
      saved = co_await replace(workspace, std::move(*known), name, body);
    } else {
      std::string id = ids_.make<struct RecordIdTag>(cat(kind_, "_")).str();
      saved = co_await make(workspace, std::move(id), name, body, "");
    }
    bool was_overtaken = !saved && (is_refusal(saved.error()) || !known);
    if (!was_overtaken || expected || attempt == kAttempts) co_return saved;
  }
}

Task<Result<void>> NamedRecords::remove(WorkspaceSlug workspace, std::string id_or_name,
                                        ExpectedVersion expected) {
  for (int attempt = 1;; ++attempt) {
    ERRAND_CO_TRY(auto known, co_await find(workspace, id_or_name));
    if (expected && *expected != known.version) co_return version_mismatch(kind_, id_or_name);
    std::vector<RecordChange> changes;
    changes.push_back(
        {.key = key(workspace, known.id), .body = {}, .expected_version = known.version});
    changes.push_back({.key = name_key(workspace, known.name), .body = {}});
    const std::int64_t oldest = std::max<std::int64_t>(1, known.version - kVersionsKept + 1);
    for (std::int64_t version = oldest; version <= known.version; ++version) {
      changes.push_back({.key = version_key(workspace, known.id, version), .body = {}});
    }
    ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
    if (!outcome.refused) co_return Result<void>();
    if (expected || attempt == kAttempts) co_return version_mismatch(kind_, id_or_name);
  }
}

Task<Result<NamedRecord>> NamedRecords::find_version(WorkspaceSlug workspace, std::string id,
                                                     std::int64_t version) {
  // The versions are removed with their record.
  ERRAND_CO_TRY(auto latest, co_await find(workspace, id));
  auto kept = co_await store_.find_record(version_key(workspace, latest.id, version));
  if (!kept && kept.error().code() == ErrorCode::not_found) {
    co_return Error(ErrorCode::not_found, cat("there is no version ", version, " of the ", kind_,
                                              " \"", latest.name, "\""));
  }
  if (!kept) co_return std::move(kept).error();
  NamedRecord record = read_stored(std::move(*kept)).record;
  record.id = latest.id;
  record.version = version;
  record.created_at = latest.created_at;
  co_return record;
}

Task<Result<std::vector<NamedRecord>>> NamedRecords::versions(WorkspaceSlug workspace,
                                                              std::string id_or_name) {
  ERRAND_CO_TRY(auto latest, co_await find(workspace, id_or_name));
  ERRAND_CO_TRY(auto kept,
                co_await store_.list_records({.workspace = workspace,
                                              .kind = cat(kind_, "_version"),
                                              .after = cat(latest.id, "."),
                                              .limit = static_cast<std::size_t>(kVersionsKept)}));
  std::vector<NamedRecord> out;
  for (Record& record : kept) {
    if (!record.key.id.starts_with(cat(latest.id, "."))) break;
    std::string_view digits = std::string_view(record.key.id).substr(latest.id.size() + 1);
    const std::int64_t version = parse_integer<std::int64_t>(digits).value_or(0);
    NamedRecord one = read_stored(std::move(record)).record;
    one.id = latest.id;
    one.version = version;
    one.created_at = latest.created_at;
    out.push_back(std::move(one));
  }
  std::reverse(out.begin(), out.end());
  co_return out;
}

Task<Result<NamedRecordPage>> NamedRecords::list(WorkspaceSlug workspace, std::string after,
                                                 std::size_t limit) {
  ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = workspace,
                                                            .kind = kind_,
                                                            .after = std::move(after),
                                                            .limit = limit + 1,
                                                            .bytes_max = kPageBytesMax}));
  NamedRecordPage page;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < records.size(); ++i) bytes += records[i].body.size();
  if (records.size() > limit || bytes >= kPageBytesMax) {
    records.pop_back();
    page.next = records.back().key.id;
  }
  for (Record& record : records) page.records.push_back(read_stored(std::move(record)).record);
  co_return page;
}

}  // namespace errand
