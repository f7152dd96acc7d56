#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::cli {

struct ListenAddress {
  std::string host;  // without brackets
  std::uint16_t port = 0;
};

// The value of --listen. invalid_argument: not HOST:PORT.
Result<ListenAddress> parse_listen(const std::string& text);

bool is_loopback(std::string_view host);

// How clients on this machine reach what listens there.
std::string http_url(const std::string& host, std::uint16_t port);

}  // namespace errand::cli
