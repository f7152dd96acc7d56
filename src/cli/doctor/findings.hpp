#pragma once

#include <string>
#include <vector>

#include "cli/show/event_printer.hpp"

namespace errand::cli {

// One thing that `errand doctor` has looked at.
struct Finding {
  enum class Level { well, warning, wrong };

  Level level = Level::well;
  std::string subject;    // "data directory"
  std::string message;    // what was found, and where
  std::string next = {};  // what to do about it

  friend bool operator==(const Finding&, const Finding&) = default;
};

using Findings = std::vector<Finding>;

bool is_all_well(const Findings& findings);

// A line each, with what to do below it; or one JSON object. Safe to show.
std::string render(const Findings& findings, Form form);

}  // namespace errand::cli
