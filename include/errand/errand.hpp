#pragma once

// Everything of Errand's C++ SDK.
#include <errand/content.hpp>
#include <errand/describe.hpp>
#include <errand/error.hpp>
#include <errand/json.hpp>
#include <errand/one_of.hpp>
#include <errand/schema.hpp>
#include <errand/tool.hpp>
#include <errand/tool_context.hpp>
#include <errand/toolkit.hpp>
