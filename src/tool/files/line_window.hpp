#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace errand {

// Picks a range of lines from a text that comes in pieces, and keeps a limited number of its bytes.
class LineWindow final {
 public:
  // Lines count from 1.
  LineWindow(std::int64_t first, std::int64_t count, std::size_t bytes_max)
      : first_(first), count_(count), bytes_max_(bytes_max) {}

  // Takes the next bytes; false once no more are needed.
  bool take(std::string_view bytes);

  const std::string& text() const { return text_; }

  // The lines, and if they are not all of the file from the first one on, a note how to read on.
  // To be called once.
  std::string finish();

 private:
  bool keep(std::string_view piece);

  const std::int64_t first_;
  const std::int64_t count_;
  const std::size_t bytes_max_;
  std::int64_t line_ = 1;       // the line that is being read
  std::size_t line_start_ = 0;  // of that line, in text_
  bool is_in_line_ = false;     // some of that line has come
  bool has_more_ = false;       // the file goes on after the text
  bool is_line_cut_ = false;    // the one line of the text is not whole
  std::string text_;
};

}  // namespace errand
