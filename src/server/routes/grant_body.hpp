#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/access/key_ring.hpp"
#include "json/fields.hpp"
#include "json/value.hpp"
#include "run/principal.hpp"
#include "run/unknown_members.hpp"

namespace errand::server {

// Bodies that say what a new credential may do.

json::Value names_json(const Grant::Names& names);  // null: not restricted

std::string read_name(json::Fields& in);

// Name, scopes, agents and time to live; only `members` may be there. invalid_argument: with the
// pointer.
Result<engine::KeyParams> parse_grant(const json::Value& body,
                                      const std::vector<std::string>& known_scopes,
                                      KnownMembers members);

// A new credential may not do more, or live longer, than the credential that creates it. Members
// that are left out are taken over from the creating credential. forbidden: the request asks for
// more.
Result<void> confine(engine::KeyParams& params, const Principal& who,
                     std::optional<milliseconds> time_left);

}  // namespace errand::server
