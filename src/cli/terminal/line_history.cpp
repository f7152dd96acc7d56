#include "cli/terminal/line_history.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

Error cannot_keep(const fs::path& file, std::string_view why) {
  return {ErrorCode::unavailable,
          cat("the lines you enter cannot be kept in ", file.string(), ": ", why)};
}

Descriptor open_file(const fs::path& file) {
  return Descriptor(
      ::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

// The last `bytes_max` bytes, from the first whole line on.
std::string read_tail(const fs::path& file, std::size_t bytes_max) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  auto bytes = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
  std::size_t skipped = bytes > bytes_max ? bytes - bytes_max : 0;
  in.seekg(static_cast<std::streamoff>(skipped));
  std::string text(bytes - skipped, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  if (skipped > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.empty()) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace

Result<std::vector<std::string>> LineHistory::load() const {
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  if (error) return cannot_keep(file_, error.message());
  if (!open_file(file_).is_open()) return cannot_keep(file_, std::strerror(errno));
  bool is_large = fs::file_size(file_, error) > kBytesMax;
  std::vector<std::string> lines = lines_of(read_tail(file_, kBytesMax));
  bool is_long = lines.size() > 2 * kLinesMax;
  if (lines.size() > kLinesMax) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kLinesMax));
  }
  if (!is_large && !is_long) return lines;
  std::string kept;
  for (const std::string& line : lines) append(kept, line, "\n");
  ERRAND_CHECK(write_whole_file(file_, kept));
  return lines;
}

void LineHistory::add(std::string_view line) const {
  Descriptor file = open_file(file_);
  if (!file.is_open()) return;
  [[maybe_unused]] auto ignored = write_fully(file.get(), cat(line, "\n"));
}

std::optional<fs::path> chat_history_file(const sdk::Environment& environment) {
  auto state = environment("XDG_STATE_HOME");
  if (state && state->starts_with('/')) return fs::path(*state) / "errand" / "chat_history";
  auto home = environment("HOME");
  if (!home || !home->starts_with('/')) return {};
  return fs::path(*home) / ".local" / "state" / "errand" / "chat_history";
}

}  // namespace errand::cli
