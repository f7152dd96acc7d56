#pragma once

#include "net/client/http_client.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

// The variables of this process.
net::Environment environment_here();

// How requests are sent, as the environment of this process wants it.
net::ClientOptions client_options_here();

}  // namespace errand::host
