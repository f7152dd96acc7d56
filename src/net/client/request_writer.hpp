#pragma once

#include <string>

#include "base/result.hpp"
#include "net/client/http_client.hpp"
#include "net/url.hpp"

namespace errand::net {

// The bytes of a request. A short body is part of `front`, so that it is sent with the head.
struct WrittenRequest {
  std::string front;
  std::string body;
};

// A request as it goes to the server or to the proxy of `route`. Takes the body out of it.
// invalid_argument: a header that is malformed, or that the client sets itself.
Result<WrittenRequest> write_request(ClientRequest& request, const Url& url, const Route& route);

}  // namespace errand::net
