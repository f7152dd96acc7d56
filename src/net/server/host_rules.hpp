#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace errand::net {

// Which names of a server a request may use. A page in a browser that had its own name resolve to
// this machine would send that name.
struct HostRules {
  std::vector<std::string> names = {};  // besides the loopback interface's, without ports
  enum class Others : std::uint8_t { refused, accepted };
  Others others = Others::refused;

  bool allows_host(std::string_view host) const;      // a Host header
  bool allows_origin(std::string_view origin) const;  // an Origin header
};

}  // namespace errand::net
