#include <errand/one_of.hpp>

#include "base/text.hpp"

namespace errand::v1::detail {

void throw_no_literal(std::string_view text) {
  throw Error(ErrorCode::invalid_argument, cat("\"", text, "\" is not one of the literals"));
}

void throw_no_literal(std::int64_t number) {
  throw Error(ErrorCode::invalid_argument, cat(number, " is not one of the literals"));
}

}  // namespace errand::v1::detail
