#include "engine/access/workspaces.hpp"

#include <map>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::string_view kKind = "workspace";
// Records of what a request with an Idempotency-Key asked for. Their names are derived from the
// key.
constexpr std::string_view kRequestKind = "workspace-request";
constexpr std::size_t kPage = 500;

WorkspaceSlug operators_workspace() {
  return *WorkspaceSlug::parse(Workspaces::kOperator);
}

std::string name_in(const Record& record) {
  auto value = json::parse(record.body);
  if (!value) return {};
  return json::Fields(*value, "").optional_text("name").value_or("");
}

Error exists(const WorkspaceSlug& slug) {
  return Error(ErrorCode::conflict, cat("there is a workspace \"", slug.view(), "\" already"))
      .reason("workspace_exists");
}

RecordKey request_key(const Once& once) {
  return {.workspace = operators_workspace(),
          .kind = std::string(kRequestKind),
          .id = once.name("workspace")};
}

std::string request_text(const Once& once) {
  json::Object body{{"version", 1}, {"fingerprint", once.idempotency.fingerprint}};
  return json::write(json::Value(std::move(body)));
}

}  // namespace

std::optional<NewWorkspace> Workspaces::find_made(const WorkspaceSlug& slug,
                                                  const std::string& name,
                                                  const std::string& secret) {
  auto who = keys_.find(secret);
  if (!who || who->workspace != slug) return {};
  for (KeyView& key : keys_.list(slug)) {
    if (key.row.id != who->key) continue;
    return NewWorkspace{.workspace = {.slug = slug, .name = name},
                        .key = {.key = std::move(key), .secret = secret}};
  }
  return {};
}

Task<Result<void>> Workspaces::keep_request(Once once) {
  std::vector<RecordChange> changes;
  changes.push_back({.key = request_key(once), .body = request_text(once), .expected_version = 0});
  ERRAND_CO_TRY(auto outcome, co_await store_.change_records(std::move(changes)));
  if (!outcome.refused) co_return Result<void>();
  ERRAND_CO_TRY(auto known, co_await store_.find_record(request_key(once)));
  if (known.body != request_text(once)) co_return idempotency_conflict();
  co_return Result<void>();
}

Task<Result<NewWorkspace>> Workspaces::create(WorkspaceSlug slug, std::string name, Once once) {
  std::string secret = KeyRing::make_secret();
  if (once.is_given()) secret = KeyRing::secret_of(once.secret(cat("workspace ", slug.view())));
  const bool is_there = slug == operators_workspace() || keys_.has_keys(slug);
  if (is_there && once.is_given()) {
    if (auto made = find_made(slug, name, secret)) co_return std::move(*made);
  }
  if (is_there || !being_made_.insert(slug).second) co_return exists(slug);
  struct Leave {
    std::set<WorkspaceSlug>& slugs;
    WorkspaceSlug mine;
    ~Leave() { slugs.erase(mine); }
  };
  Leave leave{being_made_, slug};
  if (once.is_given()) {
    ERRAND_CO_CHECK(co_await keep_request(once));
  }
  json::Object body{{"version", 1}, {"name", name}};
  RecordKey key{.workspace = operators_workspace(), .kind = std::string(kKind), .id = slug.str()};
  // A record without a key is left over from a process that died here; it is written again.
  std::vector<RecordChange> changes;
  changes.push_back({.key = std::move(key), .body = json::write(json::Value(std::move(body)))});
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  ERRAND_CO_TRY(auto made, co_await keys_.create(slug, {.name = "first key"}, std::move(secret)));
  co_return NewWorkspace{.workspace = {.slug = slug, .name = std::move(name)},
                         .key = std::move(made)};
}

Task<Result<std::string>> Workspaces::name_of(WorkspaceSlug slug) {
  RecordKey key{.workspace = operators_workspace(), .kind = std::string(kKind), .id = slug.str()};
  auto record = co_await store_.find_record(std::move(key));
  if (!record && record.error().code() == ErrorCode::not_found) co_return std::string();
  if (!record) co_return std::move(record).error();
  co_return name_in(*record);
}

Task<Result<std::vector<WorkspaceView>>> Workspaces::list() {
  std::map<WorkspaceSlug, std::string> names;
  RecordFilter filter{
      .workspace = operators_workspace(), .kind = std::string(kKind), .limit = kPage};
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await store_.list_records(filter));
    for (const Record& record : records) {
      if (auto slug = WorkspaceSlug::parse(record.key.id)) names[*slug] = name_in(record);
    }
    if (records.size() < kPage) break;
    filter.after = records.back().key.id;
  }
  std::vector<WorkspaceView> out;
  for (const WorkspaceSlug& slug : keys_.workspaces()) {
    out.push_back({.slug = slug, .name = names[slug]});
  }
  co_return out;
}

}  // namespace errand::engine
