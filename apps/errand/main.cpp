#include <malloc.h>

#include <cstdio>
#include <exception>

#include "cli/command_line.hpp"

namespace {

// Blocks of a megabyte and more go back to the system as soon as they are freed. By default the
// first one that is freed raises the bound to its own size, so that every long body or answer
// leaves a hole in the heap. Setting one bound freezes the other, which keeps small work from
// growing and shrinking the heap again and again.
constexpr int kMappedBlockBytes = 1024 * 1024;
constexpr int kFreeAtTheTopBytes = 8 * 1024 * 1024;
// Small blocks are joined when they are freed. By default that is put off until a large one is
// freed, which then takes 100 ms for the messages that a thousand connections did not read.
constexpr int kFastBlockBytesMax = 0;

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_MMAP_THRESHOLD, kMappedBlockBytes);
  mallopt(M_TRIM_THRESHOLD, kFreeAtTheTopBytes);
  mallopt(M_MXFAST, kFastBlockBytesMax);
  try {
    return errand::cli::run_command_line(argc, argv);
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand: a bug: %s\n", bug.what());
    return 1;
  }
}
