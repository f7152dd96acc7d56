#pragma once

// Everything of Errand's C++ SDK.
#include <errand/agent.hpp>
#include <errand/client.hpp>
#include <errand/content.hpp>
#include <errand/describe.hpp>
#include <errand/error.hpp>
#include <errand/event.hpp>
#include <errand/handler_options.hpp>
#include <errand/json.hpp>
#include <errand/local.hpp>
#include <errand/mcp.hpp>
#include <errand/model.hpp>
#include <errand/one_of.hpp>
#include <errand/room.hpp>
#include <errand/room_content.hpp>
#include <errand/run.hpp>
#include <errand/runner.hpp>
#include <errand/runtime.hpp>
#include <errand/schema.hpp>
#include <errand/testing.hpp>
#include <errand/tool.hpp>
#include <errand/tool_context.hpp>
#include <errand/toolkit.hpp>
#include <errand/toolkits.hpp>
