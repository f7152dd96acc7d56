#include "llm/file_words.hpp"

#include <algorithm>
#include <array>

#include "base/base64.hpp"
#include "base/text.hpp"

namespace errand::llm {
namespace {

constexpr auto kImages =
    std::to_array<std::string_view>({"image/png", "image/jpeg", "image/gif", "image/webp"});
constexpr auto kTexts = std::to_array<std::string_view>(
    {"application/json", "application/xml", "application/yaml", "application/x-yaml",
     "application/toml", "application/sql", "application/javascript", "application/x-ndjson",
     "application/jsonl", "application/x-sh", "application/csv"});

// The file type that a name with this ending has.
struct Ending {
  std::string_view ending;
  FileKind kind;
};
constexpr auto kEndings = std::to_array<Ending>({{".png", FileKind::image},
                                                 {".jpg", FileKind::image},
                                                 {".jpeg", FileKind::image},
                                                 {".gif", FileKind::image},
                                                 {".webp", FileKind::image},
                                                 {".pdf", FileKind::pdf}});

FileKind kind_by_name(std::string_view name) {
  std::string lower = to_lower(name);
  auto found = std::find_if(kEndings.begin(), kEndings.end(),
                            [&](const Ending& one) { return lower.ends_with(one.ending); });
  return found == kEndings.end() ? FileKind::other : found->kind;
}

bool is_text_type(std::string_view type) {
  return type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") ||
         type.ends_with("+yaml") || std::find(kTexts.begin(), kTexts.end(), type) != kTexts.end();
}

std::string described(const FilePart& file) {
  std::string out = cat("file \"", file.filename.empty() ? file.url : file.filename, "\"");
  if (!file.url.empty()) return file.mime_type.empty() ? out : cat(out, " (", file.mime_type, ")");
  return cat(out, " (", file.mime_type, ", ", file.size, file.size == 1 ? " byte)" : " bytes)");
}

}  // namespace

FileKind kind_of(const FilePart& file) {
  const std::string& type = file.mime_type;
  if (type.empty()) return kind_by_name(file.url.substr(0, file.url.find_first_of("?#")));
  if (std::find(kImages.begin(), kImages.end(), type) != kImages.end()) return FileKind::image;
  if (type == "application/pdf") return FileKind::pdf;
  return is_text_type(type) ? FileKind::text : FileKind::other;
}

const std::string* bytes_in(const TurnRequest& request, const FilePart& file) {
  if (!request.files || !file.url.empty()) return nullptr;
  auto found = request.files->bytes.find(file.sha256);
  bool is_there = found != request.files->bytes.end() && found->second && !found->second->empty();
  return is_there ? &*found->second : nullptr;
}

std::string data_url(const FilePart& file, std::string_view bytes) {
  std::string out = cat("data:", file.mime_type, ";base64,");
  append_base64(out, bytes);
  return out;
}

std::string told_text(const FilePart& file, std::string_view bytes) {
  return cat("The ", described(file), ":\n\n", bytes);
}

std::string note_on(const TurnRequest& request, const FilePart& file) {
  std::string_view why = "this model cannot be given files of this type";
  if (file.url.empty()) {
    bool is_in = request.files && request.files->bytes.contains(file.sha256);
    if (file.size == 0) {
      why = "it is empty";
    } else if (!is_in) {
      why = "the files of this conversation are too large together";
    } else if (!bytes_in(request, file)) {
      why = "it can no longer be read";
    }
  }
  return cat("[The ", described(file), " is not shown: ", why, ".]");
}

std::string note_on_image(const FilePart& file) {
  return cat("[The ", described(file), " is not shown: this model does not see images.]");
}

std::string files_heading(const ToolResultPart& result) {
  return cat("Files from the result of ", result.name, ":");
}

}  // namespace errand::llm
