#include "sdk/internal/command_tools.hpp"

#include <utility>

#include "base/text.hpp"
#include "sdk/bridge/builtin_toolkits.hpp"

namespace errand::sdk {
namespace {

Error at_flag(std::string_view flag, const Error& error) {
  return {error.code(), cat(flag, ": ", error.message())};
}

}  // namespace

Result<std::vector<v1::Toolkit>> make_toolkits(const CommandTools& asked, WebAccess web) {
  std::vector<v1::Toolkit> toolkits;
  if (!asked.files.empty()) {
    auto files = files_toolkit(asked.files, v1::toolkits::Access::read, asked.withheld);
    if (!files) return at_flag("--files", files.error());
    toolkits.push_back(std::move(*files));
  }
  if (asked.shell) {
    toolkits.push_back(shell_toolkit(asked.files.empty() ? "." : asked.files, *asked.approver));
  }
  if (asked.web_fetch) {
    auto allowed = web.allow(asked.allow_networks);
    if (!allowed) return at_flag("--allow-network", allowed.error());
    toolkits.push_back(web_fetch_toolkit(web));
  }
  if (asked.web_search) toolkits.push_back(web_search_toolkit(web));
  return toolkits;
}

}  // namespace errand::sdk
