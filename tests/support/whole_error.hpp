#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace errand {

// Everything an Error says, as a value that can be written down and compared whole.
struct WholeError {
  ErrorCode code{};
  std::string message;
  std::string reason;
  std::string pointer;
  std::string hint;
  std::string limit;
  std::int64_t max = 0;
  std::vector<std::string> candidates;

  friend bool operator==(const WholeError&, const WholeError&) = default;
  friend std::ostream& operator<<(std::ostream& out, const WholeError& error) {
    out << to_string(error.code) << " \"" << error.message << "\" reason=" << error.reason
        << " pointer=" << error.pointer << " hint=" << error.hint << " limit=" << error.limit << "/"
        << error.max;
    for (const std::string& candidate : error.candidates) out << " candidate=" << candidate;
    return out;
  }
};

inline WholeError whole(const Error& error) {
  return {.code = error.code(),
          .message = error.message(),
          .reason = error.reason(),
          .pointer = error.pointer(),
          .hint = error.hint(),
          .limit = error.limit(),
          .max = error.max(),
          .candidates = error.candidates()};
}

}  // namespace errand
