#include "cli/agent/attached_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

constexpr auto kKinds = std::to_array<std::pair<std::string_view, std::string_view>>({
    {".csv", "text/csv"},
    {".gif", "image/gif"},
    {".html", "text/html"},
    {".jpeg", "image/jpeg"},
    {".jpg", "image/jpeg"},
    {".json", "application/json"},
    {".md", "text/markdown"},
    {".mp3", "audio/mpeg"},
    {".pdf", "application/pdf"},
    {".png", "image/png"},
    {".txt", "text/plain"},
    {".wav", "audio/wav"},
    {".webp", "image/webp"},
    {".xml", "application/xml"},
});

bool is_text(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t length = bytes.front() == '\0' ? 0 : utf8_sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string_view kind_of(const std::filesystem::path& file, std::string_view bytes) {
  std::string ending = to_lower(file.extension().string());
  const auto* known = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const auto& kind) { return kind.first == ending; });
  if (known != kKinds.end()) return known->second;
  return is_text(bytes) ? "text/plain" : "application/octet-stream";
}

}  // namespace

Result<FilePart> read_attached_file(const std::string& file) {
  auto bytes = read_whole_file(file, kFileBytesMax);
  if (!bytes) {
    return Error(ErrorCode::invalid_argument, cat("--attach: ", bytes.error().message()));
  }
  std::filesystem::path path(file);
  FilePart part{.filename = path.filename().string(),
                .mime_type = std::string(kind_of(path, *bytes)),
                .url = {},
                .sha256 = {},
                .size = static_cast<std::int64_t>(bytes->size())};
  part.bytes = std::make_shared<const std::string>(std::move(*bytes));
  return part;
}

}  // namespace errand::cli
