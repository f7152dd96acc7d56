#pragma once

#include "base/error.hpp"

namespace errand::server {

// The credential is not one, or is none any more.
inline Error bad_credential() {
  return Error(ErrorCode::unauthorized, "the key is unknown, has expired, or was revoked")
      .reason("invalid_credential")
      .hint("'errand keys create' makes a new one");
}

}  // namespace errand::server
