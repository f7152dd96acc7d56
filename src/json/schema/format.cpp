#include "json/schema/format.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "json/schema/format_net.hpp"
#include "json/schema/format_time.hpp"
#include "json/schema/pattern.hpp"

namespace errand::json::schema {
namespace {

constexpr std::pair<std::string_view, Format> kNames[] = {
    {"date-time", Format::date_time},
    {"date", Format::date},
    {"time", Format::time},
    {"duration", Format::duration},
    {"email", Format::email},
    {"idn-email", Format::idn_email},
    {"hostname", Format::hostname},
    {"ipv4", Format::ipv4},
    {"ipv6", Format::ipv6},
    {"uri", Format::uri},
    {"uri-reference", Format::uri_reference},
    {"iri", Format::iri},
    {"iri-reference", Format::iri_reference},
    {"uuid", Format::uuid},
    {"json-pointer", Format::json_pointer},
    {"relative-json-pointer", Format::relative_json_pointer},
    {"regex", Format::regex},
};

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text.front() != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  auto digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (digits == 0 || (digits > 1 && text.front() == '0')) return false;
  text.remove_prefix(digits);
  return text == "#" || is_json_pointer(text);
}

// A pattern that only RE2 cannot match is still a regular expression.
bool is_regex(std::string_view text) {
  auto compiled = Pattern::compile(text);
  return compiled || compiled.error().code() != ErrorCode::invalid_argument;
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
  for (const auto& [known, format] : kNames) {
    if (name == known) return format;
  }
  return {};
}

std::string_view to_string(Format format) {
  return kNames[static_cast<std::size_t>(format)].first;
}

bool has_format(std::string_view text, Format format) {
  switch (format) {
    case Format::date_time: return is_date_time(text);
    case Format::date: return is_date(text);
    case Format::time: return is_time(text);
    case Format::duration: return is_duration(text);
    case Format::email: return is_email(text, Letters::ascii);
    case Format::idn_email: return is_email(text, Letters::unicode);
    case Format::hostname: return is_hostname(text);
    case Format::ipv4: return is_ipv4(text);
    case Format::ipv6: return is_ipv6(text);
    case Format::uri: return is_uri(text, Letters::ascii, Reference::absolute);
    case Format::uri_reference: return is_uri(text, Letters::ascii, Reference::relative);
    case Format::iri: return is_uri(text, Letters::unicode, Reference::absolute);
    case Format::iri_reference: return is_uri(text, Letters::unicode, Reference::relative);
    case Format::uuid: return is_uuid(text);
    case Format::json_pointer: return is_json_pointer(text);
    case Format::relative_json_pointer: return is_relative_json_pointer(text);
    case Format::regex: return is_regex(text);
  }
  return true;
}

}  // namespace errand::json::schema
