#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"

namespace errand {

// A file that goes along with a user's message or with a result. What is said about it is part of
// the log; its bytes are kept beside the log, under their hash. A URL is passed on as it is.
struct FilePart {
  std::string filename;   // may be empty for a URL
  std::string mime_type;  // in lower case, without parameters; may be empty for a URL
  std::string url;        // empty: the bytes are kept here
  std::string sha256;     // of the bytes, in hex; empty for a URL, and until they are kept
  std::int64_t size = 0;  // of the bytes
  // On the way from a caller to the store; nobody holds them after that.
  std::shared_ptr<const std::string> bytes = nullptr;
};

// Limits of what a caller may send; past them: invalid_argument with the pointer. That of the bytes
// is for each file; all files of a request have to fit into its body.
constexpr std::size_t kFilesMax = 20;
constexpr std::size_t kFileBytesMax = 5U * 1024 * 1024;
constexpr std::size_t kFilenameBytesMax = 255;
constexpr std::size_t kMimeTypeBytesMax = 255;
constexpr std::size_t kFileUrlBytesMax = 2048;

// `attachments` of a message: {"type":"input_file","filename","mimeType","data"}, with the bytes in
// base64, or {"type":"input_file_url","url","mimeType"?,"filename"?}.
Result<std::vector<FilePart>> parse_attachments(const json::Array& items, std::string_view pointer);
// `files` of a result: {"filename","mimeType","data"}.
Result<std::vector<FilePart>> parse_result_files(const json::Array& items,
                                                 std::string_view pointer);

// As callers send files: with their bytes.
json::Array sent_files(const std::vector<FilePart>& files);

// As journals and mail name files: by their hash, never with their bytes; and back.
json::Array to_json(const std::vector<FilePart>& files);
Result<std::vector<FilePart>> parse_kept_files(const json::Array& items, std::string_view pointer);

// As clients see the files of a result.
json::Array shown_files(const std::vector<FilePart>& files);

}  // namespace errand
