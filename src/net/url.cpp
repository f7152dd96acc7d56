#include "net/url.hpp"

#include <algorithm>

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

}  // namespace errand::net
