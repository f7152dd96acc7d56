#pragma once

#include <iosfwd>

#include "load/options.hpp"

namespace errand::load {

// Plays the scenario and writes the report to `out`, one line of JSON. A paused scenario writes a
// line before, and waits for one on `in`. True if every run ended well.
bool play(const Options& options, std::istream& in, std::ostream& out);

}  // namespace errand::load
