#pragma once

#include <string_view>
#include <vector>

#include "run/tools/tool_ref.hpp"

namespace errand {

// What stands in for the tools of a ref that cannot run, so that the model can say so instead of
// going without. `why` completes "... is unavailable in this run: ". Empty for a tool that the
// caller answers, and for a tool of this process.
std::vector<ToolDecl> stubs_of(const ToolRef& ref, std::string_view why);

}  // namespace errand
