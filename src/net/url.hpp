#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::net {

enum class Scheme : std::uint8_t { http, https };
std::string_view to_string(Scheme scheme);

// The parts of an http:// or https:// URL that a request needs.
struct Url {
  Scheme scheme = Scheme::http;
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string authority;  // for the Host header
  std::string target;     // path and query, never empty

  // "host:port", whether or not the URL names the port.
  std::string endpoint() const;

  friend bool operator==(const Url&, const Url&) = default;
};

// invalid_argument: not an absolute URL, or with user information. unsupported: another scheme.
Result<Url> parse_url(std::string_view text);

// The absolute URL that a reference on a page means ("../a", "?q", "//host/x"), with what a URL
// cannot hold escaped. Nothing for schemes other than http and https.
std::optional<std::string> resolve_url(const Url& base, std::string_view reference);

}  // namespace errand::net
