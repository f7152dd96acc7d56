#include "process/line_splitter.hpp"

#include <algorithm>
#include <utility>

namespace errand::process {

void LineSplitter::feed(std::string_view bytes) {
  for (;;) {
    auto end = bytes.find('\n');
    extend(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    end_line();
    bytes.remove_prefix(end + 1);
  }
}

std::optional<Line> LineSplitter::take() {
  if (ready_.empty()) return std::nullopt;
  Line line = std::move(ready_.front());
  ready_.pop_front();
  return line;
}

void LineSplitter::extend(std::string_view bytes) {
  current_.bytes += bytes.size();
  if (!current_.is_cut) {
    current_.text.append(bytes);
    if (current_.text.size() <= line_bytes_max_) return;
    current_.is_cut = true;
    current_.tail =
        current_.text.substr(current_.text.size() - std::min(kEndBytes, current_.text.size()));
    current_.text.resize(std::min(kEndBytes, current_.text.size()));
    current_.text.shrink_to_fit();
    return;
  }
  if (bytes.size() > kEndBytes) bytes.remove_prefix(bytes.size() - kEndBytes);
  current_.tail.append(bytes);
  if (current_.tail.size() > kEndBytes) current_.tail.erase(0, current_.tail.size() - kEndBytes);
}

void LineSplitter::end_line() {
  std::string& end = current_.is_cut ? current_.tail : current_.text;
  if (end.ends_with('\r')) {
    end.pop_back();
    --current_.bytes;
  }
  ready_.push_back(std::exchange(current_, {}));
}

}  // namespace errand::process
