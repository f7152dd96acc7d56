#pragma once

#include <errand/mcp.hpp>

// The server that the conformance suite wants to find. The names and texts are the suite's.
errand::mcp::Server conformance_server();
