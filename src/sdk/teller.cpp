#include "sdk/teller.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {

TaskGroup::OnBug bugs_to(Teller tell) {
  return [tell = std::move(tell)](const char* task, const std::string& what) {
    tell(cat("a bug in \"", task, "\": ", what));
  };
}

}  // namespace errand::sdk
