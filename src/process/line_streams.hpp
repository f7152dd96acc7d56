#pragma once

#include <memory>
#include <optional>
#include <string>

#include "async/task.hpp"
#include "base/result.hpp"
#include "process/line_splitter.hpp"

namespace errand::process {

// Lines over two descriptors, such as the standard input and output of this process. Lives on one
// home. Destroying it drops what is not written yet.
class LineStreams final {
 public:
  static constexpr std::size_t kQueuedBytesMax = 32U * 1024 * 1024;  // beyond, send() refuses

  // Duplicates the descriptors, which become non-blocking for everyone who shares them.
  // unavailable: one of them is a plain file, which cannot be waited for, or is not open.
  static Result<std::unique_ptr<LineStreams>> open(const Executor& home, int input, int output,
                                                   std::size_t line_bytes_max);
  ~LineStreams();
  LineStreams(const LineStreams&) = delete;
  LineStreams& operator=(const LineStreams&) = delete;

  // Queues a line, which must not hold LF. unavailable: the output is closed. too_large: too much
  // waits already, because nobody reads.
  Result<void> send(std::string line);
  // Returns once everything is written, or the output is closed. One waiter at a time.
  Task<void> flush();
  // The next line; nothing at the end of the input, and once it is closed. One waiter at a time.
  // What follows the last LF is no line.
  Task<std::optional<Line>> receive();
  void close();

 private:
  struct State;  // with the handlers that outlive this
  explicit LineStreams(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace errand::process
