#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::json {

// Where something is in a text, as editors count: from 1, in bytes of UTF-8 sequences' starts.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;

  friend bool operator==(const Place&, const Place&) = default;
};

Place place_at(std::string_view text, std::size_t byte);

// Where the member or item of a pointer begins, or as much of its path as there is. `text` is one
// that parse() takes with comments.
Place place_of(std::string_view text, std::string_view pointer);

// An error about the text of a file, with its place: "errand.json:3:7: ...". The error is one of
// parse(), or has a pointer into the text.
Error in_file(std::string_view file, std::string_view text, const Error& error);

}  // namespace errand::json
