#pragma once

#include <string>

#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

struct LoginOptions {
  std::string server;
  std::string workspace = "default";
  std::string key;  // empty: read from stdin, or asked for
};

// `errand login`: tries the key, and keeps server and key for all commands of this user. Returns
// the exit code.
int login(const LoginOptions& options);
// `errand logout`: forgets them.
int logout();

}  // namespace errand::cli
