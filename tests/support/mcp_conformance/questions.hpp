#pragma once

#include <vector>

#include <errand/mcp.hpp>

// The tools and the prompt of the fixture that ask their client.
std::vector<errand::Tool> asking_tools();
errand::mcp::Prompt asking_prompt();
