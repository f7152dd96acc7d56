#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace errand::sqlite {

// The faults of a database, as sentences; none if all is well. Looks at the pages of the file and
// at the rules that only the tables can know. Reads everything and writes nothing; a process may
// use the database meanwhile. unavailable: the file cannot be read. unsupported: it is not of this
// program's version.
Result<std::vector<std::string>> verify(const std::string& path);

// As many sentences of a kind are given.
constexpr int kFindingsMax = 100;

}  // namespace errand::sqlite
