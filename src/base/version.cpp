#include "base/version.hpp"

namespace errand {

std::string_view version() {
  return ERRAND_VERSION;
}

}  // namespace errand
