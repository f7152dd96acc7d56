#pragma once

#include <string>

#include "base/result.hpp"
#include "net/client/http_client.hpp"
#include "net/url.hpp"

namespace errand::net {

// The bytes of a request, as it goes to the server or to the proxy of `route`.
// invalid_argument: a header that is malformed, or that the client sets itself.
Result<std::string> write_request(const ClientRequest& request, const Url& url, const Route& route);

}  // namespace errand::net
