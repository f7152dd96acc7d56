#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"

namespace errand {

// The credential lacks a scope, which clients read from the error.
inline Error lacks_scope(std::string_view scope) {
  return Error(ErrorCode::forbidden, cat("this needs the scope \"", scope, "\""))
      .reason("insufficient_scope")
      .candidates({std::string(scope)})
      .hint("use a key or token that has it");
}

}  // namespace errand
