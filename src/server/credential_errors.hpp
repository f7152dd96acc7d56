#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace errand::server {

// The credential lacks a scope, which clients read from the error.
inline Error lacks_scope(std::string_view scope) {
  return Error(ErrorCode::forbidden, cat("this needs the scope \"", scope, "\""))
      .reason("insufficient_scope")
      .candidates({std::string(scope)})
      .hint("use a key or token that has it");
}

// The credential is not one, or is none any more.
inline Error bad_credential() {
  return Error(ErrorCode::unauthorized, "the key is unknown, has expired, or was revoked")
      .reason("invalid_credential")
      .hint("'errand keys create' makes a new one");
}

}  // namespace errand::server
