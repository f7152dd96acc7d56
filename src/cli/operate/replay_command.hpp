#pragma once

#include <string>

namespace errand::cli {

// `errand runs replay`: plays an export offline. 0: the events are the same. 1: it says where they
// differ. 2: the file cannot be played.
int replay_run(const std::string& file);

}  // namespace errand::cli
