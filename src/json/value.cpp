#include "json/value.hpp"

#include "base/text.hpp"

namespace errand::json {

std::string child_pointer(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  out.push_back('/');
  for (char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string child_pointer(std::string_view pointer, std::size_t index) {
  return cat(pointer, "/", index);
}

std::string_view kind_name(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return "null";
    case boost::json::kind::bool_: return "a boolean";
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return "an integer";
    case boost::json::kind::double_: return "a number";
    case boost::json::kind::string: return "a string";
    case boost::json::kind::array: return "an array";
    case boost::json::kind::object: return "an object";
  }
  return "a value";
}

}  // namespace errand::json
