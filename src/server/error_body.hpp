#pragma once

#include "base/error.hpp"
#include "net/http.hpp"

namespace errand::server {

// The one place that turns an Error into an HTTP answer:
// {"error":CODE,"code":CODE,"message":TEXT,"hint"?,"candidates"?,"pointer"?,"limit"?,"max"?}.
net::Response render_error(const Error& error);

}  // namespace errand::server
