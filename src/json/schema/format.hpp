#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace errand::json::schema {

enum class Format : std::uint8_t {
  date_time,
  date,
  time,
  duration,
  email,
  idn_email,
  hostname,
  ipv4,
  ipv6,
  uri,
  uri_reference,
  iri,
  iri_reference,
  uuid,
  json_pointer,
  relative_json_pointer,
  regex,
};

// Nothing for a name that is not known.
std::optional<Format> format_of(std::string_view name);
std::string_view to_string(Format format);

// Takes time linear in the text.
bool has_format(std::string_view text, Format format);

}  // namespace errand::json::schema
