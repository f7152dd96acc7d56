#pragma once

#include <span>

#include "base/result.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

// The scripts that make the tables: the n-th leads from version n to n + 1. A script that has ever
// been released is never edited; changes are added as a further one.
std::span<const char* const> schema();

// unsupported: the database is newer than `scripts` lead to.
Result<void> check_version(Database& database, std::span<const char* const> scripts);

// Brings a database to the version that `scripts` lead to, each step in its own transaction.
// unsupported: the database is newer than that.
Result<void> migrate(Database& database, std::span<const char* const> scripts);

}  // namespace errand::sqlite
