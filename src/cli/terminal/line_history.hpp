#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// Lines that a user has entered, in a file that only its owner may read. Processes may share it.
class LineHistory final {
 public:
  static constexpr std::size_t kLinesMax = 1000;
  static constexpr std::size_t kBytesMax = std::size_t{1024} * 1024;  // more is not read back

  explicit LineHistory(std::filesystem::path file) : file_(std::move(file)) {}

  // The last lines, oldest first. Makes the folder, and cuts a file that has grown beyond need.
  // unavailable: with the reason of the system.
  Result<std::vector<std::string>> load() const;
  // A line that cannot be kept is only missing later; nobody waits for that.
  void add(std::string_view line) const;

 private:
  const std::filesystem::path file_;
};

// Where the lines of `errand chat` are kept; nothing if the user has no place for such files.
std::optional<std::filesystem::path> chat_history_file(const sdk::Environment& environment);

}  // namespace errand::cli
