#pragma once

#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::json {

// Deeper nesting is refused, so that no recursion over a value can exhaust a stack.
constexpr std::size_t kDepthMax = 200;

// What a stranger may send in one text. A value takes some tens of bytes, however short its text
// is.
constexpr std::size_t kStrangersValuesMax = 250'000;

enum class DuplicateKeys { refuse, last_wins };
enum class Comments { refuse, allow };  // allow: // and /* */, and trailing commas

struct ParseOptions {
  DuplicateKeys duplicate_keys = DuplicateKeys::refuse;
  Comments comments = Comments::refuse;
  std::size_t depth_max = kDepthMax;
  std::size_t values_max = static_cast<std::size_t>(-1);  // objects, arrays and what is in them
};

// One whole JSON text. Doubles are read exactly; numbers beyond the range of a double, text that is
// not UTF-8 and nesting beyond kDepthMax are refused; a lone surrogate escape becomes U+FFFD.
// invalid_argument: the message says what is wrong and at which byte. With the reason
// "too_complex": there are more than `values_max` values.
Result<Value> parse(std::string_view text, ParseOptions options = {});

// The same, for a value that is kept for long and never changed: its parts lie together in a few
// pieces of memory, and whoever wants to keep one of them keeps the whole. So do copies of its
// parts, as long as they live; they have memory of their own.
Result<std::shared_ptr<const Value>> parse_shared(std::string_view text, ParseOptions options = {});

}  // namespace errand::json
