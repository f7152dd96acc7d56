#pragma once

#include "json/fields.hpp"
#include "json/value.hpp"
#include "run/principal.hpp"

namespace errand::engine {

// A grant as records keep it: "scopes" and "agents", each left out if everything is granted.
void add_grant(json::Object& out, const Grant& grant);
Grant read_grant(json::Fields& in);

}  // namespace errand::engine
