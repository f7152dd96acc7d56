#include "store/sqlite/file/gathering_vfs.hpp"

#include <sqlite3.h>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

namespace errand::sqlite {
namespace {

constexpr const char* kName = "errand-gathering";
// Kept below 128 KB, which the system's VFS does not write in one call.
constexpr std::size_t kGatheredMax = 64 * 1024;

// A write-ahead log that gathers consecutive writes. SQLite allocates it, with the system's own
// file object behind it.
class LogFile final : public sqlite3_file {
 public:
  explicit LogFile(const sqlite3_io_methods* methods) : sqlite3_file{methods} {}

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }

  int write(std::string_view bytes, sqlite3_int64 offset) {
    const bool continues = offset == begin_ + static_cast<sqlite3_int64>(gathered_.size());
    if (!continues || gathered_.size() + bytes.size() > kGatheredMax) {
      if (int code = flush(); code != SQLITE_OK) return code;
    }
    if (gathered_.empty()) begin_ = offset;
    gathered_.append(bytes);
    return SQLITE_OK;
  }

  // If the write fails, the bytes are dropped: SQLite fails the commit and writes its pages again.
  int flush() {
    if (gathered_.empty()) return SQLITE_OK;
    const int code = inner()->pMethods->xWrite(inner(), gathered_.data(),
                                               static_cast<int>(gathered_.size()), begin_);
    gathered_.clear();
    return code;
  }

 private:
  std::string gathered_;
  sqlite3_int64 begin_ = 0;  // the offset of the gathered bytes in the file
};

LogFile& log_file(sqlite3_file* file) {
  return *static_cast<LogFile*>(file);
}

// Calls a method of the system's file after writing the gathered bytes.
template <auto Method, class... Args>
int flush_and_call(sqlite3_file* file, Args... args) {
  LogFile& log = log_file(file);
  if (int code = log.flush(); code != SQLITE_OK) return code;
  return (log.inner()->pMethods->*Method)(log.inner(), args...);
}

// Calls a method that does not depend on the gathered bytes.
template <auto Method, class Returned, class... Args>
Returned call(sqlite3_file* file, Args... args) {
  sqlite3_file* inner = log_file(file).inner();
  return (inner->pMethods->*Method)(inner, args...);
}

int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  return log_file(file).write({static_cast<const char*>(data), static_cast<std::size_t>(size)},
                              offset);
}

// Bytes that are not synced by now belong to no commit.
int close(sqlite3_file* file) {
  const int code = call<&sqlite3_io_methods::xClose, int>(file);
  log_file(file).~LogFile();
  return code;
}

// A log is never memory-mapped or shared; the methods for that are called on the database file
// only.
constexpr sqlite3_io_methods kLogMethods = {
    .iVersion = 1,
    .xClose = close,
    .xRead = flush_and_call<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write,
    .xTruncate = flush_and_call<&sqlite3_io_methods::xTruncate, sqlite3_int64>,
    .xSync = flush_and_call<&sqlite3_io_methods::xSync, int>,
    .xFileSize = flush_and_call<&sqlite3_io_methods::xFileSize, sqlite3_int64*>,
    .xLock = call<&sqlite3_io_methods::xLock, int, int>,
    .xUnlock = call<&sqlite3_io_methods::xUnlock, int, int>,
    .xCheckReservedLock = call<&sqlite3_io_methods::xCheckReservedLock, int, int*>,
    .xFileControl = call<&sqlite3_io_methods::xFileControl, int, int, void*>,
    .xSectorSize = call<&sqlite3_io_methods::xSectorSize, int>,
    .xDeviceCharacteristics = call<&sqlite3_io_methods::xDeviceCharacteristics, int>,
};

sqlite3_vfs* system_vfs() {
  return sqlite3_vfs_find(nullptr);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  sqlite3_vfs* system = system_vfs();
  if ((flags & SQLITE_OPEN_WAL) == 0) return system->xOpen(system, name, file, flags, flags_out);
  auto* log = new (file) LogFile(nullptr);
  const int code = system->xOpen(system, name, log->inner(), flags, flags_out);
  // SQLite closes a file only if it has methods.
  if (code != SQLITE_OK) {
    log->~LogFile();
    file->pMethods = nullptr;
  } else {
    log->pMethods = &kLogMethods;
  }
  return code;
}

sqlite3_vfs make_vfs() {
  sqlite3_vfs vfs = *system_vfs();
  vfs.szOsFile += static_cast<int>(sizeof(LogFile));
  vfs.zName = kName;
  vfs.xOpen = open;
  return vfs;
}

}  // namespace

const char* gathering_vfs() {
  static sqlite3_vfs vfs = make_vfs();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  static_cast<void>(registered);
  return kName;
}

}  // namespace errand::sqlite
