#pragma once

#include <span>
#include <string_view>

namespace errand::server {

// An error that a caller can meet: the code in its body, the status, and its meaning.
struct ErrorInfo {
  std::string_view code;
  int status;
  std::string_view about;
};

// Every code, ordered by status.
std::span<const ErrorInfo> error_codes();

// The row of a code; nothing if there is none.
const ErrorInfo* find_error_info(std::string_view code);
// The same for a code that must be there.
const ErrorInfo& error_info(std::string_view code);

}  // namespace errand::server
