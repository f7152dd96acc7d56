#pragma once

#include <string_view>

#include "json/value.hpp"
#include "server/a2a/agent_directory.hpp"

namespace errand::server {

// The card of an agent that is reached at `url`, in the shapes of both versions at once.
json::Object card_json(const OfferedAgent& agent, std::string_view url);

}  // namespace errand::server
