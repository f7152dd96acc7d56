#pragma once

#include <string>

namespace errand::cli {

// `errand backup` and `errand restore`. Each returns the exit code.

struct CopyOptions {
  std::string file;
  std::string data = "./.errand";
  bool force = false;  // replace what is there
};

// Copies the database of a data directory to a file, whether or not a server uses it.
int back_up_data(const CopyOptions& options);
// Puts such a file in the place of a data directory's database, which no server may use.
int restore_data(const CopyOptions& options);

}  // namespace errand::cli
