#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace errand {

// What a caller is told who goes past a limit: where, which one, and how much is allowed.
inline Error limit_met(std::string message, std::string_view pointer, std::string_view limit,
                       std::size_t max) {
  return Error(ErrorCode::invalid_argument, std::move(message))
      .pointer(pointer)
      .limit(limit, static_cast<std::int64_t>(max));
}

}  // namespace errand
