#include "json/pointer.hpp"

#include <boost/system/error_code.hpp>

namespace errand::json {

const Value* find_pointer(const Value& value, std::string_view pointer) {
  boost::system::error_code error;
  return value.find_pointer({pointer.data(), pointer.size()}, error);
}

}  // namespace errand::json
