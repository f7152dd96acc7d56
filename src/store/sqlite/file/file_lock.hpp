#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace errand::sqlite {

// A file that at most one process holds at a time; the operating system lets go of it when the
// process ends, however it ends. The file itself stays.
class FileLock final {
 public:
  // conflict: another process holds it; the message says which. unavailable: no such place.
  static Result<std::unique_ptr<FileLock>> take(const std::string& path);
  // The holder: "process 123"; empty if there is none. Does not touch the lock, so that a process
  // that takes it at this moment gets it.
  static std::string holder(const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  const Descriptor file_;
};

}  // namespace errand::sqlite
