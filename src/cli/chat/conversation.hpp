#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/log/journal.hpp"

namespace errand::cli {

// Something that was said or done in a run, or in those that it goes on from.
struct Saying {
  enum class Kind { user, model, call, result, failure };
  Kind kind = Kind::user;
  std::string text;       // of a call: its arguments
  std::string name = {};  // of a tool

  friend bool operator==(const Saying&, const Saying&) = default;
};

// What the entries of a journal tell, in its order. Turns that were asked again count once.
std::vector<Saying> sayings_of(const std::vector<JournalEntry>& journal);

// A document for people. What was said stays as it is, Markdown included; what tools were given and
// gave back is in fences.
std::string to_markdown(std::string_view title, const std::vector<Saying>& sayings);

}  // namespace errand::cli
