#pragma once

#include <string>

namespace errand::cli {

struct RotateOptions {
  std::string data = "./.errand";
  std::string store;  // see host::store_file
  bool lost = false;  // what was sealed with the old key is given up
};

// `errand keys rotate-secret`, on a data directory that no server uses. Returns the exit code. If
// it is cut off, the next attempt goes on: until the secrets are sealed with the new key, the file
// holds the old one, too.
int rotate_secret_key(const RotateOptions& options);

}  // namespace errand::cli
