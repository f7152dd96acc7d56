#include "sdk/environment.hpp"

#include "host/environment.hpp"

namespace errand::sdk {

Environment environment_here() {
  return host::environment_here();
}

}  // namespace errand::sdk
