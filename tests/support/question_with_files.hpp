#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "llm/model.hpp"
#include "support/decode_stream.hpp"

namespace errand::llm {

// A question to a model whose messages name files, with the bytes of these.
class QuestionWithFiles final {
 public:
  QuestionWithFiles(std::vector<Message> messages, std::vector<FilePart> files)
      : messages_(std::move(messages)) {
    TurnFiles kept;
    for (const FilePart& file : files) {
      if (file.url.empty()) kept.bytes[file.sha256] = file.filename;
    }
    files_ = std::make_shared<const TurnFiles>(std::move(kept));
  }

  TurnRequest request() const {
    return {.system_prompt = prompt_, .messages = messages_, .tools = tools_, .files = files_};
  }

 private:
  const std::string prompt_;
  const std::vector<Message> messages_;
  const std::vector<ToolDecl> tools_;
  std::shared_ptr<const TurnFiles> files_;
};

// A file whose bytes are its name: "a.png" is "YS5wbmc=", "b.pdf" is "Yi5wZGY=".
inline FilePart kept_file(std::string name, std::string mime_type) {
  return {.filename = name,
          .mime_type = std::move(mime_type),
          .sha256 = "hash of " + name,
          .size = static_cast<std::int64_t>(name.size())};
}

// One of each kind: an image, a document, two texts, and what hardly anybody takes; an image and a
// document elsewhere.
inline std::vector<FilePart> all_kinds() {
  return {kept_file("a.png", "image/png"),       kept_file("b.pdf", "application/pdf"),
          kept_file("c.txt", "text/plain"),      kept_file("d.json", "application/json"),
          kept_file("e.zip", "application/zip"), {.mime_type = "image/png", .url = "https://a.b/f"},
          {.url = "https://a.b/g.PDF?h"}};
}

inline QuestionWithFiles attached_files() {
  Message message;
  message.text = "Look";
  message.files = all_kinds();
  return {{message}, all_kinds()};
}

// A call, and a result that brings an image and something that cannot be shown.
inline QuestionWithFiles files_of_a_result() {
  std::vector<FilePart> files = {kept_file("a.png", "image/png"),
                                 kept_file("e.zip", "application/zip")};
  return {{{.role = Role::user, .text = "Look"},
           {.role = Role::assistant, .calls = {{tool_use("tu_1"), "call_1", "look", "{}"}}},
           {.role = Role::user,
            .results = {{tool_use("tu_1"), "call_1", "look", true, "seen", files}}}},
          files};
}

// Files that are not in the request: too much of them, lost, and empty.
inline QuestionWithFiles absent_files() {
  Message message;
  message.files = {kept_file("a.png", "image/png"),
                   kept_file("b.png", "image/png"),
                   {.filename = "c.png", .mime_type = "image/png", .sha256 = "c", .size = 0}};
  FilePart lost = kept_file("", "image/png");
  lost.sha256 = "hash of b.png";
  FilePart empty = lost;
  empty.sha256 = "c";
  return {{message}, {lost, empty}};
}

// What is said in place of e.zip, wherever it stands.
inline constexpr std::string_view kZipNote =
    R"([The file \"e.zip\" (application/zip, 5 bytes) is not shown: )"
    R"(this model cannot be given files of this type.])";

}  // namespace errand::llm
