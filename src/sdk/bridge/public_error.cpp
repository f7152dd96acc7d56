#include "sdk/bridge/public_error.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {

v1::Error public_error(const Error& error, std::string run_id) {
  std::string message = error.message();
  if (!error.hint().empty()) append(message, " (", error.hint(), ")");
  return {static_cast<v1::ErrorCode>(error.code()),
          message,
          error.pointer(),
          {.reason = error.reason(), .hint = error.hint(), .run_id = std::move(run_id)}};
}

}  // namespace errand::sdk
