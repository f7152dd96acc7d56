#pragma once

#include <string>
#include <string_view>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "cli/terminal/gate.hpp"
#include "cli/terminal/piece.hpp"

namespace errand::cli {

// stdout and stderr, written on a thread of their own: a reader that stalls (a pager, Ctrl-S) must
// not keep this process from answering tool calls and signals. Lives on one home.
class Console final {
 public:
  Console() : writer_(1, kQueueMax) {}

  // Returns once everything is written. What goes wrong on stderr is nobody's concern.
  Task<Result<void>> write(Pieces pieces);

  // Keeps back what others write, so that a question and its answer stay together.
  Task<Gate::Pass> take() { return gate_.enter(); }
  // Writes `pieces`, then `question` to the terminal; for the holder of the console.
  Task<Result<void>> ask(Pieces pieces, int terminal, std::string question);

 private:
  static constexpr std::size_t kQueueMax = 1000;

  Gate gate_;
  BlockingPool writer_;
};

// Opens /dev/null for those of stdin, stdout and stderr that are closed. Otherwise the next file to
// be opened, perhaps a database, would take the place and get what is written there.
void keep_standard_streams();
// Writes without a console, before there is one or after its last use. Blocks.
void write_now(const Pieces& pieces);

// Whether a line to stderr is written at once, rather than when a reader that stalls goes on.
bool takes_errors();

// Closed pipes must show as errors of write, not end the process.
void ignore_broken_pipes();

}  // namespace errand::cli
