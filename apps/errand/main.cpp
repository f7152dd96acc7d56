#include <cstdio>
#include <exception>

#include "cli/command_line.hpp"

int main(int argc, char** argv) {
  try {
    return errand::cli::run_command_line(argc, argv);
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand: a bug: %s\n", bug.what());
    return 1;
  }
}
