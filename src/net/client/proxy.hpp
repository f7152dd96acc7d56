#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/url.hpp"

namespace errand::net {

// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// A server that passes requests on to others.
struct Proxy {
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string authorization;  // the value of Proxy-Authorization; empty if there is none

  friend bool operator==(const Proxy&, const Proxy&) = default;
};

// Which requests go through which proxy. Made without anything, none does.
class ProxyRules final {
 public:
  ProxyRules() = default;

  // Reads http_proxy, https_proxy, all_proxy and no_proxy, each in lower case first, then in upper
  // case. An empty variable counts as unset.
  static ProxyRules from(const Environment& environment);

  // The proxy for a request; nothing if it goes straight to the server. Requests to this machine
  // (localhost, 127.0.0.0/8, ::1) always do, and so do requests to hosts in no_proxy: a host with
  // all names below it, with or without a leading dot; an address; a network such as 10.0.0.0/8;
  // each with a port or without; or `*`. invalid_argument, unsupported: the variable names no
  // usable proxy.
  Result<std::optional<Proxy>> proxy_for(const Url& url) const;

 private:
  struct Variable {
    std::string name;
    std::string value;
  };
  static Variable first_set(const Environment& environment, std::vector<std::string> names);

  Variable http_;
  Variable https_;
  std::string no_proxy_;
};

}  // namespace errand::net
