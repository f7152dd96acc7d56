#include <cstdio>
#include <exception>
#include <iostream>
#include <span>

#include "load/descriptors.hpp"
#include "load/options.hpp"
#include "load/scenarios.hpp"

namespace {

constexpr int kExitUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  try {
    std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    auto options = errand::load::parse_options(words.subspan(1));
    if (!options) {
      std::cerr << "errand_load: " << options.error().message() << "\n\n" << errand::load::kUsage;
      return kExitUsage;
    }
    errand::load::raise_descriptor_limit();
    return errand::load::play(*options, std::cin, std::cout) ? 0 : 1;
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand_load: a bug: %s\n", bug.what());
    return 1;
  }
}
