#include <cstdio>
#include <exception>
#include <iostream>
#include <span>

#include "load/descriptors.hpp"
#include "load/rooms/options.hpp"
#include "load/rooms/room_load.hpp"

int main(int argc, char** argv) {
  constexpr int kExitUsage = 2;
  try {
    std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    auto options = errand::load::parse_room_options(words.subspan(1));
    if (!options) {
      std::cerr << "errand_room_load: " << options.error().message() << "\n\n"
                << errand::load::kRoomUsage;
      return kExitUsage;
    }
    errand::load::raise_descriptor_limit();
    return errand::load::play_room(*options, std::cin, std::cout) ? 0 : 1;
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand_room_load: a bug: %s\n", bug.what());
    return 1;
  }
}
