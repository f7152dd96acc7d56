#pragma once

#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace errand::engine {

// The errors that clients get for calls that they cannot claim or answer.

inline Error call_not_pending(std::string_view tool_use_id) {
  return Error(ErrorCode::not_found, cat("no call \"", tool_use_id, "\" is pending"))
      .reason("unknown_tool_use");
}

inline Error call_claimed(std::string_view tool_use_id) {
  return Error(ErrorCode::conflict, cat("the call \"", tool_use_id, "\" is claimed by another"))
      .reason("claimed")
      .hint("Claim it once that claim has expired, or send the claimId you were given.");
}

}  // namespace errand::engine
