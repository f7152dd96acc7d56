#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/schema/budget.hpp"

namespace re2 {
class RE2;
}

namespace errand::json::schema {

// A regular expression of a schema, matched in time linear in the text by RE2. The dialect is
// ECMA-262 with its `u` flag, as far as a linear-time matcher can have it.
class Pattern final {
 public:
  // invalid_argument: not a regular expression. unsupported: one that RE2 does not have
  // (look-around, back-references, more than 1000 repetitions). too_large: longer or larger than
  // the limits of a pattern.
  static Result<std::unique_ptr<const Pattern>> compile(std::string_view text);
  ~Pattern();

  // Whether some part of `text` matches; false when the budget is spent.
  bool matches(std::string_view text, Budget& budget) const;

  const std::string& text() const { return text_; }
  std::size_t instructions() const { return instructions_; }

 private:
  Pattern(std::string_view text, std::unique_ptr<const re2::RE2> compiled);

  std::string text_;
  std::unique_ptr<const re2::RE2> compiled_;
  std::size_t instructions_;
};

// Whether the expression is one that RE2 does not have, as far as that shows without compiling it.
bool is_beyond_re2(std::string_view pattern);

// The pattern in the syntax of RE2, where the two differ: \s and `.` mean what ECMA-262 says, \u,
// \c and the long names of \p are spelled differently. The errors are those of Pattern::compile.
Result<std::string> to_re2_syntax(std::string_view pattern);

}  // namespace errand::json::schema
