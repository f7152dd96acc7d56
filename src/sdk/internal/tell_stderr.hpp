#pragma once

#include <string>
#include <string_view>

namespace errand::sdk {

// A Teller for commands: "errand: SENTENCE" on stderr, safe to show.
void tell_stderr(std::string_view sentence);

// A bug in a task of a command fails the command with a message, not the process.
void report_bug(const char* task, const std::string& what);

}  // namespace errand::sdk
