#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>

#include "async/task_group.hpp"
#include "base/descriptor.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/terminal/console.hpp"

namespace errand::cli {

// The lines of a log, shown among the events of a run: the printer knows of each, so that none
// lands in a line that is not finished or is still to change. A pipe brings them from any thread to
// the home of the console; when it is full, further lines are lost and nobody waits.
class LogLines final {
 public:
  // Outlive it.
  struct Parts {
    asio::io_context& io;
    EventPrinter& printer;
    Console& console;
  };

  explicit LogLines(Parts parts);
  // Lines that nobody has shown go to stderr as they are.
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // Where the log writes: the pipe, or stderr if there can be none.
  int fd() const;
  // Shows lines as they come, until close(). `on_shown` is called after each time.
  void start(std::function<void()> on_shown);
  void close();

 private:
  static constexpr std::size_t kReadBytes = 4096;
  // What comes without the end of its line is shown as it is when it gets longer.
  static constexpr std::size_t kLineBytesMax = std::size_t{64} * 1024;

  Task<void> show_all();
  // The lines that are there as a whole.
  Pieces take_lines();

  const Parts parts_;
  Descriptor writing_end_;
  asio::posix::stream_descriptor reading_end_;
  std::array<char, kReadBytes> read_ = {};
  std::string pending_;  // read, and not shown
  bool is_closed_ = false;
  std::function<void()> on_shown_;
  TaskGroup tasks_;  // last: its task uses everything above
};

}  // namespace errand::cli
