#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace errand::json {

// The JSON values of Boost.JSON. Parse with json::parse and print with json::write only: the
// library's own number handling is not exact (docs/adr/0002-json.md).
using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

inline std::string_view view(const boost::json::string& text) {
  return {text.data(), text.size()};
}

// "/tools/0/name": `pointer` extended by one reference token, escaped as RFC 6901 says.
std::string child_pointer(std::string_view pointer, std::string_view key);
std::string child_pointer(std::string_view pointer, std::size_t index);

// "a string", "an object", ...: how a value is named in messages.
std::string_view kind_name(const Value& value);

}  // namespace errand::json
