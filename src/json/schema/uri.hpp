#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace errand::json::schema {

// Where a reference leads: a resource, and a place in it.
struct Target {
  std::string uri;       // without a fragment
  std::string fragment;  // decoded: "" (the root), a JSON pointer, or the name of an anchor
};

// A reference resolved against a base as RFC 3986 says. The base may be empty or relative, which a
// schema without an absolute $id has. Nothing if an escape in the fragment is malformed.
std::optional<Target> resolve(std::string_view base, std::string_view reference);

// The uri without its fragment.
std::string_view without_fragment(std::string_view uri);

// Whether the text may stand before the first colon of a URI.
bool is_scheme(std::string_view text);

}  // namespace errand::json::schema
