#include "net/server/host_rules.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "net/url.hpp"

namespace errand::net {
namespace {

// "localhost" of "localhost:7300"; "::1" of "[::1]:7300".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, std::min(host.find(':'), host.size()));
}

bool is_loopback_name(std::string_view name) {
  return equals_ignoring_case(name, "localhost") || name == "127.0.0.1" || name == "::1";
}

bool is_one_of(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(), [name](const std::string& known) {
    return equals_ignoring_case(known, name);
  });
}

}  // namespace

bool HostRules::allows_host(std::string_view host) const {
  std::string_view name = without_port(host);
  return others == Others::accepted || name.empty() || is_loopback_name(name) ||
         is_one_of(names, name);
}

bool HostRules::allows_origin(std::string_view origin) const {
  if (origin.empty()) return true;
  auto url = parse_url(origin);
  return url && (is_loopback_name(url->host) || is_one_of(names, url->host));
}

}  // namespace errand::net
