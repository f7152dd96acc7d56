#pragma once

#include <string_view>

#include "async/blocking_pool.hpp"
#include "cli/event_printer.hpp"

namespace errand::cli {

// Writes all of it, however long the reader takes. cancelled with the reason kOutputClosed: nobody
// reads any more. unavailable: the disk is full, or such.
Result<void> write_fully(int fd, std::string_view text);

inline constexpr std::string_view kOutputClosed = "output_closed";

// stdout and stderr, written on a thread of their own: a reader that stalls (a pager, Ctrl-S) must
// not keep this process from answering tool calls and signals.
class Console final {
 public:
  Console() : writer_(1, kQueueMax) {}

  // Returns once everything is written. What goes wrong on stderr is nobody's concern.
  Task<Result<void>> write(Pieces pieces);

 private:
  static constexpr std::size_t kQueueMax = 1000;

  BlockingPool writer_;
};

// Closed pipes must show as errors of write, not end the process.
void ignore_broken_pipes();

}  // namespace errand::cli
