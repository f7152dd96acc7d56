#include "net/client/proxy.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "net/address_rules.hpp"

namespace errand::net {
namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> parse_address(std::string_view text) {
  boost::system::error_code error;
  ip::address address = ip::make_address(std::string(text), error);
  if (error) return {};
  return address;
}

bool is_same_or_below(std::string_view host, std::string_view domain) {
  if (domain.empty() || host.size() < domain.size()) return false;
  std::string_view end = host.substr(host.size() - domain.size());
  if (!equals_ignoring_case(end, domain)) return false;
  return host.size() == domain.size() || host[host.size() - domain.size() - 1] == '.';
}

struct HostAndPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

// An IPv6 address without brackets has no port.
HostAndPort split_port(std::string_view text) {
  if (text.starts_with('[')) {
    std::size_t close = std::min(text.find(']'), text.size());
    std::string_view rest = text.substr(std::min(close + 1, text.size()));
    HostAndPort split{.host = text.substr(1, close - 1), .port = {}};
    if (rest.starts_with(':')) split.port = rest.substr(1);
    return split;
  }
  std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return {.host = text, .port = {}};
  }
  return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

bool is_exempt(const Url& url, std::string_view entry) {
  if (entry == "*") return true;
  auto address = parse_address(url.host);
  if (entry.find('/') != std::string_view::npos) {
    auto network = AddressPrefix::parse(entry);
    return address && network && network->contains(*address);
  }
  HostAndPort wanted = split_port(entry);
  if (wanted.port && parse_integer<std::uint16_t>(*wanted.port) != url.port) return false;
  if (address) return parse_address(wanted.host) == address;
  if (wanted.host.starts_with("*.")) wanted.host.remove_prefix(1);
  if (wanted.host.starts_with('.')) wanted.host.remove_prefix(1);
  return is_same_or_below(url.host, wanted.host);
}

bool is_exempt_by_any(const Url& url, std::string_view list) {
  while (!list.empty()) {
    std::size_t end = std::min(list.find_first_of(", \t"), list.size());
    std::string_view entry = list.substr(0, end);
    if (!entry.empty() && is_exempt(url, entry)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_this_machine(const Url& url) {
  auto address = parse_address(url.host);
  return address ? address->is_loopback() : is_localhost(url.host);
}

// The value may hold a password, so no message shows it.
Error not_a_proxy(std::string_view variable) {
  return Error(ErrorCode::invalid_argument,
               cat("the environment variable ", variable, " does not hold the URL of a proxy"))
      .reason("bad_proxy")
      .hint("it looks like http://proxy.example.com:3128 or http://user:password@host:port");
}

Result<std::string> basic_authorization(std::string_view user_info, std::string_view variable) {
  std::size_t colon = std::min(user_info.find(':'), user_info.size());
  auto user = percent_decode(user_info.substr(0, colon));
  auto password = percent_decode(user_info.substr(std::min(colon + 1, user_info.size())));
  if (!user || !password) return not_a_proxy(variable);
  return cat("Basic ", to_base64(cat(*user, ":", *password)));
}

Result<Proxy> parse_proxy(std::string_view text, std::string_view variable) {
  std::size_t scheme_end = text.find("://");
  if (scheme_end != std::string_view::npos) {
    std::string_view scheme = text.substr(0, scheme_end);
    if (!equals_ignoring_case(scheme, "http")) {
      return Error(ErrorCode::unsupported, cat("the environment variable ", variable,
                                               " names a proxy of a kind that is not supported"))
          .reason("bad_proxy")
          .hint("only proxies with http:// can be used, for https:// requests too");
    }
    text = text.substr(scheme_end + 3);
  }
  text = text.substr(0, text.find('/'));
  std::size_t at = text.rfind('@');
  std::string authorization;
  if (at != std::string_view::npos) {
    ERRAND_TRY(authorization, basic_authorization(text.substr(0, at), variable));
    text = text.substr(at + 1);
  }
  auto url = parse_url(cat("http://", text));
  if (!url) return not_a_proxy(variable);
  return Proxy{.host = url->host, .port = url->port, .authorization = std::move(authorization)};
}

}  // namespace

ProxyRules::Variable ProxyRules::first_set(const Environment& environment,
                                           std::vector<std::string> names) {
  for (std::string& name : names) {
    auto value = environment(name);
    if (value && !value->empty()) return {.name = std::move(name), .value = std::move(*value)};
  }
  return {};
}

ProxyRules ProxyRules::from(const Environment& environment) {
  ProxyRules rules;
  rules.http_ = first_set(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
  rules.https_ = first_set(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  rules.no_proxy_ = first_set(environment, {"no_proxy", "NO_PROXY"}).value;
  return rules;
}

Result<std::optional<Proxy>> ProxyRules::proxy_for(const Url& url) const {
  const Variable& variable = url.scheme == Scheme::https ? https_ : http_;
  if (variable.value.empty() || is_this_machine(url) || is_exempt_by_any(url, no_proxy_)) {
    return std::optional<Proxy>();
  }
  ERRAND_TRY(Proxy proxy, parse_proxy(variable.value, variable.name));
  return std::optional<Proxy>(std::move(proxy));
}

}  // namespace errand::net
