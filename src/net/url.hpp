#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::net {

// The parts of an http:// URL that a request needs.
struct Url {
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string authority;  // for the Host header
  std::string target;     // path and query, never empty

  friend bool operator==(const Url&, const Url&) = default;
};

// invalid_argument: not an absolute URL, or with user information. unsupported: another scheme.
Result<Url> parse_url(std::string_view text);

}  // namespace errand::net
