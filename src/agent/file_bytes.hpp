#pragma once

#include <vector>

#include "run/file_part.hpp"
#include "store/records.hpp"

namespace errand::agent {

// Takes the bytes of files out of them, for the store to keep. From then on the files name them by
// their hash.
std::vector<RunBlob> take_bytes(std::vector<FilePart>& files);

}  // namespace errand::agent
