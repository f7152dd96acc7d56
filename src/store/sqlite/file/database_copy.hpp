#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

// A new file that is removed unless it gets its final name.
class NewFile final {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }

  // Makes the file, empty, and replaces any file at this path. Only its owner may read it.
  Result<void> make();
  // Replaces the file with the final name. Durable when it returns.
  Result<void> rename_to(const std::string& path);

 private:
  std::string path_;
};

// unavailable: what the operating system refused to do with a file, and why (errno).
Error failed_to(const char* verb, const std::string& path);
bool file_exists(const std::string& path);
std::int64_t file_bytes(const std::string& path);  // 0 if there is none
// Makes the entries of a file's folder durable.
Result<void> sync_folder_of(const std::string& path);

// Called often with the number of bytes written so far; may be empty.
using BytesWritten = std::function<void(std::int64_t bytes)>;

// Copies a database, as of one moment, into an empty file, and makes the copy durable. The copy can
// give free pages back to the disk, even if the original cannot.
Result<void> copy_into(Database& database, const std::string& file, const BytesWritten& progress);

}  // namespace errand::sqlite
