#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <errand/toolkits.hpp>

#include "base/result.hpp"
#include "sdk/web_access.hpp"
#include "tool/builtin/approval.hpp"

namespace errand::sdk {

// The toolkits of errand::toolkits that the flags of a command name.
struct CommandTools {
  std::string files = {};          // a directory; empty: none
  std::filesystem::path withheld;  // a file that no tool may open
  bool shell = false;              // in the directory, or else in the working folder
  Approver* approver = nullptr;    // of the shell; on the command's loop, and outlives the tools
  bool web_fetch = false;
  std::vector<std::string> allow_networks = {};  // that web_fetch may reach
  bool web_search = false;
};

// `web` is what the tools may reach besides. Errors name the flag.
Result<std::vector<v1::Toolkit>> make_toolkits(const CommandTools& asked, WebAccess web);

}  // namespace errand::sdk
