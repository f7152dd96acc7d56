#pragma once

#include <vector>

#include "store/sqlite/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// Rows of the tables as the structs of the Store. A statement that gives runs begins with
// "SELECT * FROM runs", so that columns are read by their place in the schema.
RunRow read_run(const Rows& rows);

// For read_mailboxes; takes the run.
inline constexpr const char* kMailOfRun = "SELECT * FROM mail WHERE run = ? ORDER BY slot";
Result<std::vector<Mailbox>> read_mailboxes(Statement& mail_of_run, const RunId& run);

}  // namespace errand::sqlite
