#pragma once

#include <string>

#include "base/log.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

struct MigrationOptions {
  const std::string& path;  // of the database
  const Clock& clock;
  Log& log;  // gets the progress every few seconds
};

// Brings a database to this program's version of the schema. If rows have to be rewritten, a backup
// is made first beside the database ("errand.db.schema4.bak"), and kept. A process that dies in
// between leaves the database in its old version or in the new one, and the next call starts again;
// it uses a complete backup that it finds.
// unsupported: the database is newer. unavailable: it cannot be read or written; with reason
// "disk_full", the disk has no space for the backup and the new tables.
Result<void> bring_up_to_date(Database& database, const MigrationOptions& options);

}  // namespace errand::sqlite
