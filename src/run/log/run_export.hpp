#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/value.hpp"

namespace errand {

// Everything about one run in one file, to look at and to replay elsewhere. docs/wire/journal.md
// has the format.
struct RunExport {
  json::Value run;                   // as GET .../agent-runs/{id} shows it
  std::vector<json::Value> journal;  // entry after entry
  std::vector<json::Value> events;
};

// The file's text, with secrets taken out.
std::string write_export(RunExport run, WallTime at);

// invalid_argument: the text is no export, or of a version that this program does not know.
Result<RunExport> parse_export(std::string_view text);

}  // namespace errand
