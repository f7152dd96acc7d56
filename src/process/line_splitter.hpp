#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace errand::process {

// A line without its end. Of a line that is too long, only both ends are kept.
struct Line {
  std::string text;  // the whole line, or its first bytes
  std::string tail = {};
  std::size_t bytes = 0;  // of the whole line
  bool is_cut = false;

  friend bool operator==(const Line&, const Line&) = default;
};

// Lines from bytes that may be split anywhere; LF ends a line, and a CR before it goes with it.
class LineSplitter final {
 public:
  static constexpr std::size_t kEndBytes = 1024;  // kept of each end of a line that is too long

  explicit LineSplitter(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  void feed(std::string_view bytes);
  // The next whole line.
  std::optional<Line> take();

 private:
  void extend(std::string_view bytes);
  void end_line();

  const std::size_t line_bytes_max_;
  Line current_;
  std::deque<Line> ready_;
};

}  // namespace errand::process
