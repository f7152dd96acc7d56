#pragma once

#include <filesystem>

#include "net/client/proxy.hpp"
#include "sdk/credentials.hpp"

namespace errand::sdk {

// The server that a program means: what it says itself, then ERRAND_SERVER and ERRAND_API_KEY, then
// .errand/credentials in `folder` or the nearest folder above it that has one. Errors are those of
// find_server.
Result<Credentials> find_nearby_server(ServerFlags flags, const net::Environment& environment,
                                       std::filesystem::path folder);

}  // namespace errand::sdk
