#pragma once

#include <string_view>

namespace errand {

// The reason of an error of RemoteToolSource::ask that means: somebody answered, and has no tools
// for the run. The message says why and is told to the model.
inline constexpr std::string_view kNoTools = "no_tools";

}  // namespace errand
