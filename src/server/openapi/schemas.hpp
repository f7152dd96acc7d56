#pragma once

#include <span>
#include <string_view>

#include "json/value.hpp"

namespace errand::server {

// The bodies that routes take and give, as JSON Schemas by name: `components.schemas` of
// /openapi.json. They have the bounds of the validators, see schemas.cpp.
json::Object component_schemas();

// The chapters of component_schemas(), as the text of a JSON object each. A number that is written
// as "=name" stands for the constant of that name; a description may be an array of lines.
std::string_view run_schemas();       // run_schemas.cpp
std::string_view call_schemas();      // call_schemas.cpp
std::string_view event_schemas();     // event_schemas.cpp
std::string_view session_schemas();   // session_schemas.cpp
std::string_view record_schemas();    // record_schemas.cpp
std::string_view room_schemas();      // room_schemas.cpp
std::string_view oauth_schemas();     // oauth_schemas.cpp
std::string_view protocol_schemas();  // protocol_schemas.cpp
std::string_view server_schemas();    // server_schemas.cpp

}  // namespace errand::server
