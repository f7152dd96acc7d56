#pragma once

#include <string>

namespace errand::cli {

struct CheckOptions {
  std::string data = "./.errand";
  std::string store;  // "sqlite:PATH"; empty: errand.db in the data directory
};

// `errand check-data`: looks whether the database is sound and whether everything in it is what its
// logs say, and prints a line for each rule that does not hold. Returns the exit code: 0 if all is
// well, 1 with findings, 2 if there is nothing that could be checked.
int check_data(const CheckOptions& options);

}  // namespace errand::cli
