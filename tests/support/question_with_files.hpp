#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llm/model.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm {

// A request whose messages name files. Each kept file's bytes are its name.
inline TurnRequest request_with_files(std::vector<Message> messages,
                                      const std::vector<FilePart>& files) {
  TurnFiles kept;
  for (const FilePart& file : files) {
    if (file.url.empty()) kept.bytes[file.sha256] = file.filename;
  }
  return {.messages = share_messages(std::move(messages)),
          .files = std::make_shared<const TurnFiles>(std::move(kept))};
}

// In base64, "a.png" is "YS5wbmc=" and "b.pdf" is "Yi5wZGY=".
inline FilePart kept_file(std::string name, std::string mime_type) {
  return {.filename = name,
          .mime_type = std::move(mime_type),
          .sha256 = "hash of " + name,
          .size = static_cast<std::int64_t>(name.size())};
}

// One of each kind: an image, a document, two texts, and an archive that hardly any vendor takes;
// then the URLs of an image and of a document.
inline std::vector<FilePart> all_kinds() {
  return {kept_file("a.png", "image/png"),       kept_file("b.pdf", "application/pdf"),
          kept_file("c.txt", "text/plain"),      kept_file("d.json", "application/json"),
          kept_file("e.zip", "application/zip"), {.mime_type = "image/png", .url = "https://a.b/f"},
          {.url = "https://a.b/g.PDF?h"}};
}

inline TurnRequest attached_files() {
  Message message;
  message.text = "Look";
  message.files = all_kinds();
  return request_with_files({message}, all_kinds());
}

// A call, and its result with an image and an archive that cannot be shown.
inline TurnRequest files_of_a_result() {
  std::vector<FilePart> files = {kept_file("a.png", "image/png"),
                                 kept_file("e.zip", "application/zip")};
  return request_with_files(
      {{.role = Role::user, .text = "Look"},
       {.role = Role::assistant, .calls = {{tool_use("tu_1"), "call_1", "look", "{}"}}},
       {.role = Role::user,
        .results = {{tool_use("tu_1"), "call_1", "look", true, "seen", files}}}},
      files);
}

// Files whose bytes the request does not have: left out for their size, lost, and empty.
inline TurnRequest absent_files() {
  Message message;
  message.files = {kept_file("a.png", "image/png"),
                   kept_file("b.png", "image/png"),
                   {.filename = "c.png", .mime_type = "image/png", .sha256 = "c", .size = 0}};
  FilePart lost = kept_file("", "image/png");
  lost.sha256 = "hash of b.png";
  FilePart empty = lost;
  empty.sha256 = "c";
  return request_with_files({message}, {lost, empty});
}

// What the model is told instead of e.zip.
inline constexpr std::string_view kZipNote =
    R"([The file \"e.zip\" (application/zip, 5 bytes) is not shown: )"
    R"(this model cannot be given files of this type.])";

}  // namespace errand::llm
