#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand::sqlite {

// Copies of a whole database, as of one moment. Everything here blocks.

enum class Existing { keep, replace };  // what to do about a file that is there
// The reason of an error because of Existing::keep.
inline constexpr std::string_view kFileExists = "file_exists";

struct CopyReport {
  std::int64_t bytes = 0;
  std::int64_t runs = 0;
};

struct BackupOptions {
  std::string database;
  std::string file;  // the copy; only its owner may read it
  Existing existing = Existing::keep;
  // Told often how many bytes of the copy are written; may be empty.
  std::function<void(std::int64_t bytes)> progress;
};
// Copies a database, which a process may go on using. The copy has everything that was committed
// before this began, and is there as a whole or not at all.
// not_found: there is no database. conflict: the file exists. unsupported: the database is not one
// of Errand's, or of a newer version. unavailable: it is damaged, or the copy cannot be written.
Result<CopyReport> back_up(const BackupOptions& options);

struct RestoreOptions {
  std::string file;
  std::string database;  // its folder must exist
  Existing existing = Existing::keep;
  WallTime now{};  // for the name that a replaced database gets
};
struct RestoreReport {
  CopyReport copy;
  std::string kept;  // where the replaced database is; empty if there was none
};
// Puts a copy in the place of a database. The earlier database is kept beside it. conflict: a
// process uses the database, or a database exists and is not to be replaced. not_found,
// unsupported, unavailable: as above, of the file.
Result<RestoreReport> restore(const RestoreOptions& options);

}  // namespace errand::sqlite
