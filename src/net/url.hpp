#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// Whether both lead to the same server: scheme, host and port are the same.
bool is_same_origin(const Url& a, const Url& b);

// invalid_argument: not an absolute URL, or with user information. unsupported: another scheme.
Result<Url> parse_url(std::string_view text);

// A URL that paths are appended to.
std::string_view without_trailing_slashes(std::string_view url);

// Names need no escapes; values get theirs.
using Query = std::vector<std::pair<std::string_view, std::string>>;
// "/runs?limit=1&status=failed"; the path alone without a query.
std::string with_query(std::string_view path, const Query& query);

// The absolute URL that a reference on a page means ("../a", "?q", "//host/x"), with what a URL
// cannot hold escaped. Nothing for schemes other than http and https.
std::optional<std::string> resolve_url(const Url& base, std::string_view reference);

}  // namespace errand::net
