#pragma once

#include <string_view>

namespace errand {

// Of this program, as in "0.1.0". A new number compiles one file anew.
std::string_view version();

}  // namespace errand
