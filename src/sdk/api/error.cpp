#include <errand/error.hpp>

#include "base/error.hpp"
#include "base/text.hpp"

namespace errand::v1 {

std::string_view to_string(ErrorCode code) {
  return ::errand::to_string(static_cast<::errand::ErrorCode>(code));
}

static_assert(static_cast<int>(ErrorCode::internal) ==
              static_cast<int>(::errand::ErrorCode::internal));

Error::Error(ErrorCode code, const std::string& message, std::string pointer)
    : std::runtime_error(message), code_(code), pointer_(std::move(pointer)) {}

Error::Error(ErrorCode code, const std::string& message, std::string pointer, ErrorDetails details)
    : std::runtime_error(message),
      code_(code),
      pointer_(std::move(pointer)),
      details_(std::make_shared<const ErrorDetails>(std::move(details))) {}

Error::~Error() = default;

const ErrorDetails& Error::details() const {
  static const ErrorDetails kNone;
  return details_ ? *details_ : kNone;
}

std::string Error::describe() const {
  return pointer_.empty() ? what() : cat(pointer_, ": ", what());
}

}  // namespace errand::v1
