#include "cli/show/log_lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "sdk/internal/tell_stderr.hpp"

namespace errand::cli {

LogLines::LogLines(Parts parts)
    : parts_(parts),
      reading_end_(parts.io),
      tasks_(parts.io.get_executor(), [this](const char* task, const std::string& what) {
        sdk::report_bug(task, what);
        close();
      }) {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  reading_end_.assign(ends[0]);
  writing_end_ = Descriptor(ends[1]);
}

LogLines::~LogLines() {
  if (!reading_end_.is_open()) return;
  for (ssize_t count = 0;
       (count = ::read(reading_end_.native_handle(), read_.data(), read_.size())) > 0;) {
    pending_.append(read_.data(), static_cast<std::size_t>(count));
  }
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, pending_);
}

int LogLines::fd() const {
  return writing_end_.is_open() ? writing_end_.get() : STDERR_FILENO;
}

void LogLines::start(std::function<void()> on_shown) {
  on_shown_ = std::move(on_shown);
  if (reading_end_.is_open()) tasks_.spawn("log lines", show_all());
}

void LogLines::close() {
  is_closed_ = true;
  if (reading_end_.is_open()) reading_end_.cancel();
}

Task<void> LogLines::show_all() {
  while (!is_closed_) {
    auto [error, count] = co_await reading_end_.async_read_some(asio::buffer(read_), as_result);
    if (error) co_return;
    pending_.append(read_.data(), count);
    Pieces pieces = take_lines();
    if (pieces.empty()) continue;
    [[maybe_unused]] auto written = co_await parts_.console.write(std::move(pieces));
    if (on_shown_) on_shown_();
  }
}

Pieces LogLines::take_lines() {
  Pieces pieces;
  std::size_t end = pending_.size() > kLineBytesMax ? pending_.size() : pending_.rfind('\n') + 1;
  std::string whole = pending_.substr(0, end);
  pending_.erase(0, end);
  for (std::string_view rest = whole; !rest.empty();) {
    Pieces shown = parts_.printer.log_line(take_line(rest));
    std::move(shown.begin(), shown.end(), std::back_inserter(pieces));
  }
  return pieces;
}

}  // namespace errand::cli
