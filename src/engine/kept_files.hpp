#pragma once

#include <vector>

#include "run/log/journal.hpp"
#include "store/records.hpp"

namespace errand::engine {

// The files that an entry names.
std::vector<FilePart> files_of(const JournalEntry& entry);

// What a journal that is made from another run's names, for the store to share.
std::vector<RunBlob> shared_blobs(const std::vector<JournalEntry>& journal);

}  // namespace errand::engine
