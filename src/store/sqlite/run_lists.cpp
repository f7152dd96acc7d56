#include "store/sqlite/run_lists.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "store/run_filter.hpp"
#include "store/sqlite/changes/rows.hpp"
#include "store/sqlite/common_ids.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kAll =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs "
    "WHERE workspace = ? AND id < ? ORDER BY id DESC";
constexpr const char* kOutcomes =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs INDEXED BY outcomes "
    "WHERE workspace = ? AND id < ? AND status = ? AND finished = 1 ORDER BY id DESC";
constexpr const char* kAtWork =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs INDEXED BY at_work "
    "WHERE workspace = ? AND id < ? AND finished = 0 AND status <> 0 ORDER BY id DESC";
constexpr const char* kQueued =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs INDEXED BY queued "
    "WHERE workspace = ? AND id < ? AND status = 0 ORDER BY id DESC";
constexpr const char* kFindLabel =
    "SELECT run FROM labels WHERE workspace = ? AND key = ? AND value = ? AND run < ? "
    "ORDER BY run DESC LIMIT 1";
constexpr const char* kFindOfSession =
    "SELECT run FROM session_runs INDEXED BY runs_of_session WHERE workspace = ? AND session = ? "
    "AND run < ? ORDER BY run DESC LIMIT 1";
constexpr const char* kFindOutcome =
    "SELECT id FROM runs INDEXED BY outcomes WHERE workspace = ? AND status = ? AND id < ? "
    "AND finished = 1 ORDER BY id DESC LIMIT 1";
constexpr const char* kFindAtWork =
    "SELECT id FROM runs INDEXED BY at_work WHERE workspace = ? AND id < ? AND finished = 0 "
    "AND status <> 0 ORDER BY id DESC LIMIT 1";
constexpr const char* kFindQueued =
    "SELECT id FROM runs INDEXED BY queued WHERE workspace = ? AND id < ? AND status = 0 "
    "ORDER BY id DESC LIMIT 1";
static_assert(static_cast<int>(RunStatus::queued) == 0);

std::string_view bound_of(const RunFilter& filter) {
  std::string_view bound = filter.before ? filter.before->view() : kAfterAllIds;
  if (!filter.created.last.empty()) bound = std::min<std::string_view>(bound, filter.created.last);
  return bound;
}

}  // namespace

RunLists::RunLists(Database& database)
    : all_(database, kAll),
      outcomes_(database, kOutcomes),
      at_work_(database, kAtWork),
      queued_(database, kQueued),
      find_run_(database, kRunById),
      find_label_(database, kFindLabel),
      find_of_session_(database, kFindOfSession),
      find_outcome_(database, kFindOutcome),
      find_at_work_(database, kFindAtWork),
      find_queued_(database, kFindQueued) {}

Result<std::vector<RunRow>> RunLists::list(const RunFilter& filter) {
  if (!filter.metadata.empty() || filter.session) return leap(filter);
  const std::string_view bound = bound_of(filter);
  if (!filter.status) return take(all_.query(filter.workspace, bound), filter);
  if (*filter.status == RunStatus::queued) {
    return take(queued_.query(filter.workspace, bound), filter);
  }
  if (!is_terminal(*filter.status)) return take(at_work_.query(filter.workspace, bound), filter);
  return take(outcomes_.query(filter.workspace, bound, *filter.status), filter);
}

Result<std::vector<RunRow>> RunLists::take(Rows rows, const RunFilter& filter) {
  std::vector<RunRow> found;
  while (found.size() < filter.limit) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) break;
    if (!matches_status(filter, read_status(rows))) continue;
    RunRow run = read_run(rows);
    if (run.id.view() < filter.created.first) break;
    if (filter.created.contains(run.created_at)) found.push_back(std::move(run));
  }
  return found;
}

Result<std::vector<RunRow>> RunLists::leap(const RunFilter& filter) {
  std::vector<RunRow> found;
  std::string bound(bound_of(filter));
  while (found.size() < filter.limit) {
    ERRAND_TRY(bound, find_common(filter, std::move(bound)));
    if (bound.empty() || bound < filter.created.first) break;
    Rows rows = find_run_.query(filter.workspace, bound);
    ERRAND_TRY(bool is_there, rows.next());
    if (!is_there || !matches_status(filter, read_status(rows))) continue;
    RunRow run = read_run(rows);
    if (filter.created.contains(run.created_at)) found.push_back(std::move(run));
  }
  return found;
}

Result<std::string> RunLists::find_common(const RunFilter& filter, std::string bound) {
  const std::size_t parts =
      filter.metadata.size() + (filter.session ? 1 : 0) + (filter.status ? 1 : 0);
  return find_common_place(
      parts, std::move(bound),
      [&](std::size_t part, const std::string& before) { return find_part(filter, part, before); });
}

Result<std::string> RunLists::find_part(const RunFilter& filter, std::size_t part,
                                        std::string_view bound) {
  auto first = [](Rows rows) -> Result<std::string> {
    ERRAND_TRY(bool found, rows.next());
    return found ? rows.text(0) : std::string();
  };
  if (part < filter.metadata.size()) {
    const auto& [key, value] = filter.metadata[part];
    return first(find_label_.query(filter.workspace, key, value, bound));
  }
  if (filter.session && part == filter.metadata.size()) {
    return first(find_of_session_.query(filter.workspace, *filter.session, bound));
  }
  if (*filter.status == RunStatus::queued) {
    return first(find_queued_.query(filter.workspace, bound));
  }
  if (!is_terminal(*filter.status)) return first(find_at_work_.query(filter.workspace, bound));
  return first(find_outcome_.query(filter.workspace, *filter.status, bound));
}

}  // namespace errand::sqlite
