#pragma once

#include <filesystem>
#include <string>

#include <errand/toolkits.hpp>

#include "base/result.hpp"
#include "sdk/web_access.hpp"
#include "tool/builtin/approval.hpp"

namespace errand::sdk {

// The built-in toolkits, with what the commands of this repository ask for besides.

// `withheld` is one file that is never opened; empty: none.
Result<v1::Toolkit> files_toolkit(const std::filesystem::path& directory,
                                  v1::toolkits::Access access,
                                  const std::filesystem::path& withheld = {});
// `approver` lives on the home of the runs and outlives the toolkit.
v1::Toolkit shell_toolkit(const std::string& directory, Approver& approver);
v1::Toolkit web_fetch_toolkit(const WebAccess& web);
// Without a search service each call says so.
v1::Toolkit web_search_toolkit(const WebAccess& web);

}  // namespace errand::sdk
