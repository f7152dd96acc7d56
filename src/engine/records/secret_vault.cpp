#include "engine/records/secret_vault.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::string_view kKind = "secret";

// The place of the data key, which belongs to no workspace. No route reads records of its kind.
RecordKey data_key_place() {
  return {.workspace = *WorkspaceSlug::parse("default"), .kind = "data_key", .id = "current"};
}

RecordKey key_of(const WorkspaceSlug& workspace, std::string name) {
  return {.workspace = workspace, .kind = std::string(kKind), .id = std::move(name)};
}

std::string context_of(const WorkspaceSlug& workspace, std::string_view name) {
  return cat(workspace.view(), "\n", kKind, "\n", name);
}

// Header names are compared without their case.
std::string header_context(const WorkspaceSlug& workspace, std::string_view name) {
  return cat(workspace.view(), "\nheader\n", to_lower(name));
}

bool needs_seal(std::string_view header, std::string_view value) {
  return may_be_secret(header, value) && !is_sealed(value);
}

// The headers of requests to the tool; null for kinds of tools without headers.
template <class Ref>
auto headers_in(Ref& ref) -> decltype(&std::get_if<McpServer>(&ref)->headers) {
  if (auto* mcp = std::get_if<McpServer>(&ref)) return &mcp->headers;
  if (auto* agent = std::get_if<RemoteAgent>(&ref)) return &agent->headers;
  if (auto* room = std::get_if<RoomRef>(&ref)) return &room->headers;
  return nullptr;
}

// All header values of the tools that are not sealed yet, with the names of their headers.
std::vector<std::pair<std::string, std::string*>> plain_headers(std::vector<ToolRef>& refs) {
  std::vector<std::pair<std::string, std::string*>> out;
  for (ToolRef& ref : refs) {
    Headers* headers = headers_in(ref);
    if (!headers) continue;
    for (auto& [name, value] : *headers) {
      if (needs_seal(name, value)) out.emplace_back(name, &value);
    }
  }
  return out;
}

bool has_plain_headers(const std::vector<ToolRef>& refs) {
  return std::ranges::any_of(refs, [](const ToolRef& ref) {
    const Headers* headers = headers_in(ref);
    return headers && std::ranges::any_of(*headers, [](const auto& header) {
             return needs_seal(header.first, header.second);
           });
  });
}

// The id by which a sealed value names its key without revealing the key.
std::string id_of(const crypto::SealKey& key) {
  constexpr std::size_t kDigits = 12;
  return crypto::to_hex(crypto::sha256(cat("errand key id\n", crypto::to_hex(key))))
      .substr(0, kDigits);
}

Error no_such_secret(std::string_view name) {
  return Error(ErrorCode::not_found, cat("there is no secret \"", utf8_prefix(name, 80), "\""))
      .hint(cat("'errand secrets set ", utf8_prefix(name, 80), "' sets it"));
}

Error other_version(std::string_view name) {
  return Error(ErrorCode::conflict,
               cat("the secret \"", utf8_prefix(name, 80), "\" has a different version"))
      .reason(NamedRecords::kVersionMismatch)
      .hint("read it again, and send its ETag as If-Match");
}

Error lost() {
  return Error(ErrorCode::conflict, "the value was sealed with a key that is lost")
      .reason("secret_lost")
      .hint("set it again");
}

Error damaged() {
  return {ErrorCode::internal, "the record of a secret is damaged"};
}

SecretInfo info_of(const Record& record) {
  return {.name = record.key.id,
          .version = record.version,
          .created_at = record.created_at,
          .updated_at = record.updated_at};
}

// The text of a member of a record's body.
Result<std::string> member_of(const Record& record, std::string_view name) {
  auto body = json::parse(record.body);
  if (!body) return damaged();
  json::Fields in(*body, "");
  std::string text = in.optional_text(name).value_or("");
  return in.finish(std::move(text));
}

Result<void> check(std::string_view name, std::string_view value) {
  if (!is_valid_secret_name(name)) {
    return Error(ErrorCode::invalid_argument,
                 cat("the name of a secret is 1 to ", kSecretNameCharsMax,
                     " letters, digits, dots, underscores and dashes"))
        .pointer("/name");
  }
  if (value.size() < SecretVault::kValueBytesMin) {
    return Error(ErrorCode::invalid_argument,
                 cat("the value of a secret has at least ", SecretVault::kValueBytesMin, " bytes"))
        .pointer("/value");
  }
  if (value.size() <= SecretVault::kValueBytesMax) return {};
  return Error(ErrorCode::invalid_argument,
               cat("the value of a secret has at most ", SecretVault::kValueBytesMax, " bytes"))
      .pointer("/value")
      .limit("secretBytes", static_cast<std::int64_t>(SecretVault::kValueBytesMax));
}

}  // namespace

SecretVault::SecretVault(Store& store, MasterKeys& keys) : store_(store), masters_(keys) {}

std::string SecretVault::wrapped(const DataKey& data, const crypto::SealKey& master) const {
  std::string sealed = crypto::seal(master, crypto::to_hex(data.key), cat("data key\n", data.id));
  return json::write(
      json::Object{{"id", data.id}, {"masterKey", id_of(master)}, {"sealed", to_base64(sealed)}});
}

Result<SecretVault::DataKey> SecretVault::unwrap(
    const Record& record, const std::vector<crypto::SealKey>& masters) const {
  if (masters.empty()) {
    return Error(ErrorCode::unavailable,
                 cat("the key of the secrets is missing: it is not at ", masters_.place()))
        .reason("secret_key_missing")
        .hint(
            "put the key back, or set ERRAND_SECRET_KEY; 'errand keys rotate-secret --lost' gives "
            "up all secrets that are stored");
  }
  ERRAND_TRY(auto id, member_of(record, "id"));
  ERRAND_TRY(auto text, member_of(record, "sealed"));
  auto sealed = from_base64(text);
  for (const crypto::SealKey& master : masters) {
    auto hex = sealed ? crypto::unseal(master, *sealed, cat("data key\n", id)) : std::nullopt;
    auto key = hex ? crypto::parse_seal_key(*hex) : std::nullopt;
    if (key) return DataKey{.id = std::move(id), .key = *key};
  }
  return Error(ErrorCode::unavailable, cat("the key at ", masters_.place(),
                                           " is not the one that the secrets are sealed "
                                           "with"))
      .reason("secret_key_wrong")
      .hint(
          "put the right key back; 'errand keys rotate-secret --lost' gives up all secrets that "
          "are stored");
}

Task<Result<void>> SecretVault::make_data_key(ExpectedVersion expected) {
  ERRAND_CO_TRY(auto masters, co_await masters_.read());
  if (masters.empty()) {
    ERRAND_CO_TRY(auto made, co_await masters_.make());
    masters.push_back(made);
  }
  DataKey data{.id = cat("dk_", crypto::random_hex(8)), .key = crypto::random_seal_key()};
  std::vector<RecordChange> changes;
  changes.push_back({.key = data_key_place(),
                     .body = wrapped(data, masters.front()),
                     .expected_version = expected});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (!outcome.refused) data_ = std::move(data);
  co_return Result<void>();
}

Task<Result<void>> SecretVault::load(Need need) {
  if (data_) co_return Result<void>();
  auto record = co_await store_.find_record(data_key_place());
  if (!record && record.error().code() != ErrorCode::not_found) co_return std::move(record).error();
  if (!record && need == Need::to_read) co_return lost();
  if (!record) {
    ERRAND_CO_CHECK(co_await make_data_key(0));
    if (data_) co_return Result<void>();
    record = co_await store_.find_record(data_key_place());  // another process was faster
    if (!record) co_return std::move(record).error();
  }
  ERRAND_CO_TRY(auto masters, co_await masters_.read());
  ERRAND_CO_TRY(data_, unwrap(*record, masters));
  co_return Result<void>();
}

std::string SecretVault::seal(std::string_view plain, std::string_view context) const {
  return cat(data_->id, ":", to_base64(crypto::seal(data_->key, plain, context)));
}

Result<std::string> SecretVault::unseal(std::string_view sealed, std::string_view context) const {
  const std::size_t colon = sealed.find(':');
  if (colon == std::string_view::npos) return damaged();
  if (!data_ || sealed.substr(0, colon) != data_->id) return lost();
  auto bytes = from_base64(sealed.substr(colon + 1));
  auto plain = bytes ? crypto::unseal(data_->key, *bytes, context) : std::nullopt;
  if (!plain) return damaged();
  return std::move(*plain);
}

std::string SecretVault::mark_of(const Idempotency& idempotency) const {
  if (idempotency.key.empty()) return {};
  return crypto::to_hex(crypto::hmac_sha256(crypto::to_hex(data_->key),
                                            cat(idempotency.key, "\n", idempotency.fingerprint)));
}

Task<Result<SavedSecret>> SecretVault::write(WorkspaceSlug workspace, std::string name,
                                             std::string value, ExpectedVersion expected,
                                             std::string mark) {
  json::Object body{{"sealed", seal(value, context_of(workspace, name))}};
  if (!mark.empty()) body["mark"] = mark;
  std::vector<RecordChange> changes;
  changes.push_back(
      {.key = key_of(workspace, name), .body = json::write(body), .expected_version = expected});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (outcome.refused) co_return other_version(name);
  const Record& record = outcome.records.front();
  co_return SavedSecret{.info = info_of(record), .is_new = record.version == 1};
}

Task<Result<SavedSecret>> SecretVault::put(WorkspaceSlug workspace, std::string name,
                                           std::string value, ExpectedVersion expected) {
  ERRAND_CO_CHECK(check(name, value));
  ERRAND_CO_CHECK(co_await load(Need::to_write));
  co_return co_await write(workspace, std::move(name), std::move(value), expected, {});
}

Task<Result<SavedSecret>> SecretVault::create(WorkspaceSlug workspace, std::string name,
                                              std::string value, Idempotency idempotency) {
  ERRAND_CO_CHECK(check(name, value));
  ERRAND_CO_CHECK(co_await load(Need::to_write));
  const std::string mark = mark_of(idempotency);
  auto made = co_await write(workspace, name, std::move(value), 0, mark);
  if (made || made.error().reason() != NamedRecords::kVersionMismatch) co_return made;
  auto known = co_await store_.find_record(key_of(workspace, name));
  auto known_mark = known ? member_of(*known, "mark") : Result<std::string>(std::string());
  if (known && !mark.empty() && known_mark && *known_mark == mark) {
    co_return SavedSecret{.info = info_of(*known), .is_new = true};
  }
  co_return Error(ErrorCode::conflict, cat("there is a secret \"", name, "\" already"))
      .reason("name_taken")
      .pointer("/name")
      .hint("PUT replaces it");
}

Task<Result<SecretInfo>> SecretVault::info(WorkspaceSlug workspace, std::string name) {
  auto record = co_await store_.find_record(key_of(workspace, name));
  if (record) co_return info_of(*record);
  if (record.error().code() == ErrorCode::not_found) co_return no_such_secret(name);
  co_return std::move(record).error();
}

Task<Result<SecretPage>> SecretVault::list(WorkspaceSlug workspace, std::string after,
                                           std::size_t limit) {
  ERRAND_CO_TRY(auto records, co_await store_.list_records({.workspace = workspace,
                                                            .kind = std::string(kKind),
                                                            .after = std::move(after),
                                                            .limit = limit + 1}));
  SecretPage page;
  if (records.size() > limit) {
    records.pop_back();
    page.next = records.back().key.id;
  }
  for (const Record& record : records) page.secrets.push_back(info_of(record));
  co_return page;
}

Task<Result<void>> SecretVault::remove(WorkspaceSlug workspace, std::string name,
                                       ExpectedVersion expected) {
  ERRAND_CO_TRY(auto known, co_await info(workspace, name));
  std::vector<RecordChange> changes;
  changes.push_back({.key = key_of(workspace, known.name),
                     .body = {},
                     .expected_version = expected.value_or(known.version)});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (outcome.refused) co_return other_version(name);
  co_return Result<void>();
}

Task<Result<std::string>> SecretVault::find(WorkspaceSlug workspace, std::string name) {
  auto record = co_await store_.find_record(key_of(workspace, name));
  if (!record && record.error().code() == ErrorCode::not_found) co_return no_such_secret(name);
  if (!record) co_return std::move(record).error();
  ERRAND_CO_TRY(auto sealed, member_of(*record, "sealed"));
  ERRAND_CO_CHECK(co_await load(Need::to_read));
  auto value = unseal(sealed, context_of(workspace, name));
  if (value || value.error().reason() != lost().reason()) co_return value;
  co_return Error(ErrorCode::conflict,
                  cat("the secret \"", name, "\" was sealed with a key that is lost"))
      .reason("secret_lost")
      .hint(cat("'errand secrets set ", name, "' sets it again"));
}

Task<Result<std::string>> SecretVault::unseal_header(WorkspaceSlug workspace, std::string header,
                                                     std::string sealed) {
  ERRAND_CO_CHECK(co_await load(Need::to_read));
  std::string_view rest = sealed;
  rest.remove_prefix(kSealedBegin.size());
  co_return unseal(rest, header_context(workspace, header));
}

Task<Result<std::string>> SecretVault::seal_value(WorkspaceSlug workspace, std::string kind,
                                                  std::string name, std::string value) {
  ERRAND_CO_CHECK(co_await load(Need::to_write));
  co_return seal(value, cat(workspace.view(), "\n", kind, "\n", name));
}

Task<Result<std::string>> SecretVault::unseal_value(WorkspaceSlug workspace, std::string kind,
                                                    std::string name, std::string sealed) {
  ERRAND_CO_CHECK(co_await load(Need::to_read));
  co_return unseal(sealed, cat(workspace.view(), "\n", kind, "\n", name));
}

void SecretVault::seal_header(const WorkspaceSlug& workspace, std::string_view name,
                              std::string& value) const {
  value = cat(kSealedBegin, seal(value, header_context(workspace, name)));
}

Task<Result<ToolSetPtr>> SecretVault::seal_headers(WorkspaceSlug workspace, ToolSetPtr tools) {
  // Most sets have no headers, and copying a set may mean copying megabytes.
  if (!has_plain_headers(tools->refs)) co_return tools;
  ERRAND_CO_CHECK(co_await load(Need::to_write));
  std::vector<ToolRef> refs = tools->refs;
  for (auto& [name, value] : plain_headers(refs)) seal_header(workspace, name, *value);
  co_return share_tools(std::move(refs));
}

Task<Result<json::Array>> SecretVault::seal_headers(WorkspaceSlug workspace, json::Array tools) {
  for (json::Value& tool : tools) {
    json::Value* headers = tool.is_object() ? tool.get_object().if_contains("headers") : nullptr;
    if (!headers || !headers->is_object()) continue;
    for (auto& member : headers->get_object()) {
      const std::string name(member.key().data(), member.key().size());
      const auto* text = member.value().if_string();
      std::string value(text ? json::view(*text) : "");
      if (!needs_seal(name, value)) continue;
      ERRAND_CO_CHECK(co_await load(Need::to_write));
      seal_header(workspace, name, value);
      member.value() = value;
    }
  }
  co_return tools;
}

Task<Result<bool>> SecretVault::rewrap() {
  auto record = co_await store_.find_record(data_key_place());
  if (!record && record.error().code() == ErrorCode::not_found) co_return false;
  if (!record) co_return std::move(record).error();
  ERRAND_CO_TRY(auto masters, co_await masters_.read());
  ERRAND_CO_TRY(auto data, unwrap(*record, masters));
  ERRAND_CO_TRY(auto wrapped_with, member_of(*record, "masterKey"));
  if (wrapped_with == id_of(masters.front())) co_return false;
  std::vector<RecordChange> changes;
  changes.push_back({.key = data_key_place(),
                     .body = wrapped(data, masters.front()),
                     .expected_version = record->version});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (outcome.refused) {
    co_return Error(ErrorCode::conflict, "another process changed the key of the secrets");
  }
  co_return true;
}

Task<Result<void>> SecretVault::start_anew() {
  data_.reset();
  co_return co_await make_data_key({});
}

}  // namespace errand::engine
