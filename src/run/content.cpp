#include "run/content.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

// "image/png" becomes "png"; characters that cannot stand at the end of a file name are dropped.
std::string extension_of(std::string_view mime_type) {
  std::string_view subtype = mime_type.substr(mime_type.find('/') + 1);
  subtype = subtype.substr(0, subtype.find_first_of("+;"));
  bool is_plain = !subtype.empty() && std::all_of(subtype.begin(), subtype.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
  return is_plain ? cat(".", subtype) : "";
}

std::string_view word_of(FileContent::Kind kind) {
  switch (kind) {
    case FileContent::Kind::image: return "image";
    case FileContent::Kind::audio: return "audio";
    case FileContent::Kind::file: return "file";
  }
  return "file";
}

// A tool may give a file any name; a client that saves the file must not write outside its folder.
std::string safe_name(std::string_view name) {
  std::string safe;
  for (char c : name.substr(name.find_last_of("/\\") + 1)) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) safe.push_back(c);
  }
  safe = utf8_prefix(safe, kFilenameBytesMax);
  return safe == "." || safe == ".." ? "" : safe;
}

class Flattener final {
 public:
  void operator()(TextContent& part) { add_text(std::move(part.text)); }
  void operator()(JsonContent& part) { add_text(json::write(part.value)); }

  void operator()(FileContent& part) { add_file(word_of(part.kind), std::move(part.file)); }

  void operator()(LinkContent& part) {
    std::string line = part.name.empty() ? part.uri : cat(part.name, ": ", part.uri);
    if (!part.description.empty()) append(line, " (", part.description, ")");
    add_text(std::move(line));
  }

  void operator()(ResourceContent& part) {
    if (!part.file) return add_text(std::move(part.text));
    if (part.file->filename.empty()) part.file->filename = part.uri;
    add_file("file", std::move(*part.file));
  }

  FlatContent finish() && {
    if (flat_.text.size() > kResultBytesMax) {
      flat_.text = without_middle(flat_.text, kResultBytesMax);
    }
    return std::move(flat_);
  }

 private:
  void add_text(std::string text) {
    if (flat_.text.empty()) {
      flat_.text = std::move(text);
    } else {
      append(flat_.text, flat_.text.ends_with('\n') ? "" : "\n", text);
    }
  }

  void add_file(std::string_view word, FilePart file) {
    if (file.bytes) file.size = static_cast<std::int64_t>(file.bytes->size());
    file.filename = safe_name(file.filename);
    if (file.filename.empty()) {
      file.filename = cat(word, "-", flat_.files.size() + 1, extension_of(file.mime_type));
    }
    if (file.mime_type.empty()) file.mime_type = "application/octet-stream";
    bool is_too_large = file.size > static_cast<std::int64_t>(kFileBytesMax);
    if (is_too_large || flat_.files.size() == kFilesMax) {
      return add_text(cat("[", file.filename, " (", file.size,
                          " bytes) is left out: a result has at most ", kFilesMax, " files of ",
                          kFileBytesMax, " bytes]"));
    }
    flat_.files.push_back(std::move(file));
  }

  FlatContent flat_;
};

}  // namespace

FlatContent flatten(std::vector<Content> content) {
  Flattener flattener;
  for (Content& part : content) std::visit(flattener, part);
  return std::move(flattener).finish();
}

}  // namespace errand
