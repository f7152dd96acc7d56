#pragma once

#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

StoreTime store_time(const Rows& rows, int column);

// Whether a statement gives any.
inline Result<bool> has_row(Rows rows) {
  return rows.next();
}

// Rows of the tables as the structs of the Store. A statement that gives runs selects all columns
// of the table, so that they are read by their place in the schema, and then the run's session.
RunRow read_run(const Rows& rows);
RunStatus read_status(const Rows& rows);  // of the run
Result<std::vector<RunRow>> read_runs(Rows rows);

// Likewise with "SELECT * FROM mail".
Mailbox read_mailbox(const Rows& rows);
Result<std::vector<Mailbox>> read_mailboxes(Rows rows, std::size_t bytes_max = kNoBytesMax);

// Likewise with "SELECT * FROM records".
Record read_record(const Rows& rows);
Result<std::vector<Record>> read_records(Rows rows, std::size_t bytes_max = kNoBytesMax);

// Likewise with "SELECT * FROM api_keys".
ApiKeyRow read_api_key(const Rows& rows);
Result<std::vector<ApiKeyRow>> read_api_keys(Rows rows);

// Takes the workspace and the id.
inline constexpr const char* kRunById =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs "
    "WHERE workspace = ? AND id = ?";
// Takes the run and its workspace.
inline constexpr const char* kMailOfRun =
    "SELECT * FROM mail WHERE run = ? AND workspace = ? ORDER BY slot";
// Takes the workspace, the kind and the id.
inline constexpr const char* kFindRecord =
    "SELECT * FROM records WHERE workspace = ? AND kind = ? AND id = ?";

}  // namespace errand::sqlite
