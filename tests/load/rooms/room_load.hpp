#pragma once

#include <iosfwd>

#include "load/rooms/options.hpp"

namespace errand::load {

// Plays the scenario and writes its figures. False: something failed, and was said on stderr.
bool play_room(const RoomOptions& options, std::istream& in, std::ostream& out);

}  // namespace errand::load
