#include "cli/terminal/listen_address.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::cli {

Result<ListenAddress> parse_listen(const std::string& text) {
  std::size_t colon = text.rfind(':');
  auto port = colon == std::string::npos ? std::nullopt
                                         : parse_integer<std::uint16_t>(text.substr(colon + 1));
  if (!port) {
    return Error(ErrorCode::invalid_argument,
                 cat("--listen ", text, ": expected HOST:PORT, such as 127.0.0.1:7300"));
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return ListenAddress{.host = std::move(host), .port = *port};
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string http_url(const std::string& host, std::uint16_t port) {
  bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? cat("http://[", host, "]:", port) : cat("http://", host, ":", port);
}

}  // namespace errand::cli
