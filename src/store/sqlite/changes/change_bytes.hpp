#pragma once

#include <cstddef>
#include <vector>

#include "store/records.hpp"

namespace errand::sqlite {

// The memory that a waiting change holds, counting the parts whose size is up to the caller.
std::size_t bytes_of(const NewRun& run);
std::size_t bytes_of(const Commit& commit);
std::size_t bytes_of(const Mail& mail);
std::size_t bytes_of(const NewSession& session);
std::size_t bytes_of(const std::vector<RecordChange>& changes);

}  // namespace errand::sqlite
