#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "process/line_splitter.hpp"
#include "process/subprocess.hpp"

namespace errand::process {

// A program that is spoken to in lines, over its standard input and output, for as long as it runs.
// Its standard error is kept apart. Lives on one home; destroying it ends the program.
class LineProcess final {
 public:
  // `input` and `errors` of the options are set here. Fails as Subprocess::spawn does.
  static Result<std::unique_ptr<LineProcess>> spawn(const Executor& home, ProcessOptions options,
                                                    std::size_t line_bytes_max);

  // Queues a line, which must not hold LF. Fails as Subprocess::send does.
  Result<void> send(std::string line);
  // The next line; nothing once the program has ended. One waiter at a time. What follows the last
  // LF is no line.
  Task<std::optional<Line>> receive();

  std::string_view errors() const { return process_->errors(); }
  // Once receive() has returned nothing, or stop() has returned.
  ProcessEnd end() const { return process_->end(); }
  Task<void> stop();
  void begin_stop() { process_->begin_stop(); }

 private:
  LineProcess(std::unique_ptr<Subprocess> process, std::size_t line_bytes_max)
      : process_(std::move(process)), lines_(line_bytes_max) {}

  std::unique_ptr<Subprocess> process_;
  LineSplitter lines_;
};

}  // namespace errand::process
