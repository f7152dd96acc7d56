#include "tool/files/line_window.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand {

bool LineWindow::take(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(end);
    if (line_ >= first_ && !keep(piece)) return false;
    is_in_line_ = piece.back() != '\n';
    if (!is_in_line_) ++line_;
  }
  return true;
}

bool LineWindow::keep(std::string_view piece) {
  has_more_ = line_ - first_ >= count_;
  if (has_more_) return false;
  if (!is_in_line_) line_start_ = text_.size();
  if (text_.size() + piece.size() <= bytes_max_) {
    text_ += piece;
    return true;
  }
  // A line that does not fit is left for the next call, unless it is too long for any call.
  has_more_ = true;
  is_line_cut_ = line_start_ == 0;
  if (is_line_cut_) {
    text_ += piece;
    text_.resize(utf8_prefix(text_, bytes_max_).size());
  } else {
    text_.resize(line_start_);
  }
  return false;
}

std::string LineWindow::finish() {
  std::int64_t lines =
      is_in_line_ ? line_ : line_ - 1;  // the number of lines, if the text was read to its end
  if (text_.empty() && lines == 0) return "(the file is empty)\n";
  if (text_.empty())
    return cat("(the file has only ", lines, lines == 1 ? " line)\n" : " lines)\n");
  if (!has_more_) return std::move(text_);
  if (is_line_cut_) {
    append(text_, "\n[line ", line_, " is cut here because it is too long; read on with offset ",
           line_ + 1, "]\n");
  } else {
    append(text_, "[the file goes on; read on with offset ", line_, "]\n");
  }
  return std::move(text_);
}

}  // namespace errand
