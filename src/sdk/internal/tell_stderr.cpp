#include "sdk/internal/tell_stderr.hpp"

#include <unistd.h>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "sdk/teller.hpp"

namespace errand::sdk {

void tell_stderr(std::string_view sentence) {
  std::string note = cat("errand: ", clean_text(sentence), "\n");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
}

void report_bug(const char* task, const std::string& what) {
  bugs_to(tell_stderr)(task, what);
}

}  // namespace errand::sdk
