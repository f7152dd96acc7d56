#pragma once

#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

// What leads from one version of the tables to the next.
struct SchemaStep {
  const char* script;
  Result<void> (*fill)(Database&) = nullptr;  // what no script can do, after it
};

// The n-th step leads from version n to n + 1. A released step is never edited; changes are added
// as a further step.
std::span<const SchemaStep> schema();

// Steps up to this version rewrite rows, which takes long on a large file. Later steps only add
// tables, and add or drop indices.
inline constexpr std::int64_t kLastRewrite = 5;

// unsupported: the database is newer than `steps` lead to.
Result<void> check_version(Database& database, std::span<const SchemaStep> steps);

// Brings a database to the version that `steps` lead to, in one transaction.
// unsupported: the database is newer than that.
Result<void> migrate(Database& database, std::span<const SchemaStep> steps, WallTime now);

}  // namespace errand::sqlite
