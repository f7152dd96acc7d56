#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace errand::sqlite {

// Larger databases are not looked through: that takes too long for a quick look.
constexpr std::int64_t kExaminedBytesMax = std::int64_t{512} * 1024 * 1024;

// What a quick look at a database tells.
struct Examination {
  std::string holder;        // who has it open: "process 123"; empty: no process
  std::int64_t bytes = 0;    // of the file
  std::int64_t version = 0;  // of its schema
  std::int64_t newest = 0;   // that this program knows
  std::int64_t runs = 0;     // of a database of this program's version
  bool is_checked = false;   // that its pages fit together
  bool has_log = false;      // that a killed process has left; only the next one can read it
};

// Looks and changes nothing; a process may use the database meanwhile.
// unavailable: the file cannot be read; with reason kStoreDamaged, it is hurt.
Result<Examination> examine(const std::string& path);

}  // namespace errand::sqlite
