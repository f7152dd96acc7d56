#pragma once

#include <string>

namespace errand::cli {

// `errand config init|check`. Each returns the exit code.

struct ConfigInitOptions {
  std::string file = "errand.json";
  bool force = false;  // a file that is there is replaced
};
// Writes a file that works as it is, with comments on what else there is.
int init_config(const ConfigInitOptions& options);

// Says what is wrong with the file, or what it configures.
int check_config(const std::string& file);

}  // namespace errand::cli
