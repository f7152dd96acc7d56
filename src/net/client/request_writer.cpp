#include "net/client/request_writer.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"

namespace errand::net {
namespace {

constexpr std::size_t kCopiedBodyBytesMax = 16U * 1024;  // sent in one piece with the head

// Headers that say how the request is sent, which the caller does not decide.
constexpr std::array<std::string_view, 10> kOwnHeaders = {
    "Host", "Connection", "Keep-Alive", "Content-Length",  "Transfer-Encoding",
    "TE",   "Trailer",    "Upgrade",    "Accept-Encoding", "Proxy-Authorization"};

bool is_token(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && c != ':';
  });
}

bool is_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Result<void> write_headers(const ClientRequest& request, std::string& out) {
  for (const Header& header : request.headers) {
    if (!is_token(header.name) || !is_value(header.value)) {
      return Error(ErrorCode::invalid_argument, cat("the header ", header.name, " is not valid"));
    }
    bool is_own = std::any_of(kOwnHeaders.begin(), kOwnHeaders.end(), [&](std::string_view own) {
      return equals_ignoring_case(own, header.name);
    });
    if (is_own) {
      return Error(ErrorCode::invalid_argument,
                   cat("the header ", header.name, " is set by the client itself"));
    }
    append(out, header.name, ": ", header.value, "\r\n");
  }
  return {};
}

}  // namespace

Result<WrittenRequest> write_request(ClientRequest& request, const Url& url, const Route& route) {
  if (request.method == Method::other) {
    return Error(ErrorCode::invalid_argument, "this method cannot be sent");
  }
  bool is_for_proxy = route.is_read_by_proxy();
  std::string out = cat(to_string(request.method), " ");
  if (is_for_proxy) append(out, "http://", url.authority);
  append(out, url.target, " HTTP/1.1\r\nHost: ", url.authority,
         "\r\nAccept-Encoding: gzip, deflate\r\n");
  if (is_for_proxy && !route.proxy->authorization.empty()) {
    append(out, "Proxy-Authorization: ", route.proxy->authorization, "\r\n");
  }
  ERRAND_CHECK(write_headers(request, out));
  bool may_be_empty = request.method == Method::get || request.method == Method::head ||
                      request.method == Method::options || request.method == Method::delete_;
  if (!request.body.empty() || !may_be_empty) {
    append(out, "Content-Length: ", request.body.size(), "\r\n");
  }
  out += "\r\n";
  if (request.body.size() > kCopiedBodyBytesMax) {
    return WrittenRequest{.front = std::move(out), .body = std::move(request.body)};
  }
  out += request.body;
  return WrittenRequest{.front = std::move(out), .body = {}};
}

}  // namespace errand::net
