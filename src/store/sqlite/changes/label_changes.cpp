#include "store/sqlite/changes/label_changes.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kAdd =
    "INSERT OR IGNORE INTO labels (workspace, key, value, run) VALUES (?, ?, ?, ?)";
constexpr const char* kRemoveRunLabel =
    "DELETE FROM labels WHERE workspace = ? AND key = ? AND value = ? AND run = ?";

}  // namespace

LabelChanges::LabelChanges(Database& database)
    : add_(database, kAdd), remove_(database, kRemoveRunLabel) {}

Result<void> LabelChanges::add(const RunKey& run, const Labels& labels) {
  for (const auto& [key, value] : labels) {
    ERRAND_CHECK(add_.run(run.workspace, key, value, run.run));
  }
  return {};
}

Result<void> LabelChanges::remove(const RunKey& run, const Labels& labels) {
  for (const auto& [key, value] : labels) {
    ERRAND_CHECK(remove_.run(run.workspace, key, value, run.run));
  }
  return {};
}

}  // namespace errand::sqlite
