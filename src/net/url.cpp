#include "net/url.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::net {
namespace {

Error bad_url(std::string_view why) {
  return {ErrorCode::invalid_argument, cat("the URL ", why)};
}

bool has_unsafe(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  });
}

// Fills host and port from "host", "host:port", "[v6]" or "[v6]:port".
Result<void> split_authority(std::string_view authority, Url& url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad_url("has a bracket that is not closed");
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return bad_url("has no host");
  if (port.empty()) return {};
  auto number = parse_integer<std::uint16_t>(port.substr(1));
  if (port.front() != ':' || !number || *number == 0) return bad_url("has a bad port");
  url.port = *number;
  return {};
}

// Encodes characters that a URL must not contain as %XX, and drops line ends and tabs, as browsers
// do.
std::string escape_unsafe(std::string_view text) {
  constexpr std::string_view kUnsafe = "\"<>\\^`{|}";
  std::string out;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r' || c == '\t') continue;
    if (byte > 0x20 && byte < 0x7f && kUnsafe.find(c) == std::string_view::npos) {
      out.push_back(c);
    } else {
      append_percent(out, c);
    }
  }
  return out;
}

// The scheme at the beginning of the reference, without its colon; empty if there is none.
std::string_view scheme_of(std::string_view reference) {
  std::size_t end = reference.find_first_of(":/?#");
  if (end == std::string_view::npos || reference[end] != ':') return {};
  return reference.substr(0, end);
}

// "/a/./b/../c" becomes "/a/c".
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    std::size_t end = std::min(path.find('/', 1), path.size());
    std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    bool is_up = segment == "/..";
    if (is_up) out.resize(std::min(out.rfind('/'), out.size()));
    if (!is_up && segment != "/.") {
      out.append(segment);
    } else if (path.empty()) {
      out.push_back('/');
    }
  }
  return out;
}

}  // namespace

std::string_view to_string(Scheme scheme) {
  return scheme == Scheme::https ? "https" : "http";
}

std::string Url::endpoint() const {
  bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? cat("[", host, "]:", port) : cat(host, ":", port);
}

Result<Url> parse_url(std::string_view text) {
  if (has_unsafe(text)) return bad_url("has spaces or control characters");
  std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad_url("must begin with http:// or https://");
  bool is_https = equals_ignoring_case(text.substr(0, colon), "https");
  if (!is_https && !equals_ignoring_case(text.substr(0, colon), "http")) {
    return Error(ErrorCode::unsupported, cat("URLs with ", text.substr(0, colon),
                                             ":// are not supported, only http:// and https://"));
  }
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());

  Url url;
  if (is_https) {
    url.scheme = Scheme::https;
    url.port = 443;
  }
  url.authority = rest.substr(0, slash);
  if (url.authority.find('@') != std::string::npos) return bad_url("must not hold a user name");
  ERRAND_CHECK(split_authority(url.authority, url));
  std::string_view target = rest.substr(slash);
  url.target = target.starts_with('/') ? std::string(target) : cat("/", target);
  return url;
}

std::string_view without_trailing_slashes(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return url;
}

std::string with_query(std::string_view path, const Query& query) {
  std::string out(path);
  char mark = '?';
  for (const auto& [name, value] : query) {
    append(out, std::exchange(mark, '&'), name, '=', percent_encode(value));
  }
  return out;
}

std::optional<std::string> resolve_url(const Url& base, std::string_view reference) {
  std::string clean = escape_unsafe(trim(reference));
  std::string_view rest = clean;
  std::string_view scheme = scheme_of(rest);
  if (!scheme.empty()) {
    const bool is_https = equals_ignoring_case(scheme, "https");
    const bool is_ours = is_https || equals_ignoring_case(scheme, "http");
    rest.remove_prefix(scheme.size());
    if (!is_ours || !rest.starts_with("://")) return {};
    return cat(is_https ? "https" : "http", rest);
  }
  if (rest.starts_with("//")) return cat(to_string(base.scheme), ":", rest);

  std::string origin = cat(to_string(base.scheme), "://", base.authority);
  std::string_view base_path = std::string_view(base.target).substr(0, base.target.find('?'));
  if (rest.empty() || rest.starts_with('#')) return cat(origin, base.target, rest);
  if (rest.starts_with('?')) return cat(origin, base_path, rest);
  std::size_t path_end = std::min(rest.find_first_of("?#"), rest.size());
  std::string path(rest.substr(0, path_end));
  if (!rest.starts_with('/')) path = cat(base_path.substr(0, base_path.rfind('/') + 1), path);
  return cat(origin, without_dot_segments(path), rest.substr(path_end));
}

bool is_same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && equals_ignoring_case(a.host, b.host) && a.port == b.port;
}

}  // namespace errand::net
