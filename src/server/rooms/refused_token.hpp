#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"

namespace errand::server {

// Clients try again after 401, and so a bad token is forbidden.
inline Error refused_token(std::string message) {
  return Error(ErrorCode::forbidden, std::move(message)).reason("invalid_token");
}

}  // namespace errand::server
