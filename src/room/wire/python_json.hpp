#pragma once

#include <string>

#include "json/value.hpp"

namespace errand::room {

// The value as Python's json.dumps writes it, byte for byte: receivers of calls parse the text,
// write it again, and compare a hash of that.
std::string python_json(const json::Value& value);

}  // namespace errand::room
