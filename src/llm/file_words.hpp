#pragma once

#include <string>
#include <string_view>

#include "llm/model.hpp"

namespace errand::llm {

// Files on their way into a vendor's request. What a vendor does not take becomes words to the
// model, never a failed run.

// What most vendors tell apart.
enum class FileKind {
  image,  // PNG, JPEG, GIF, WebP
  pdf,
  text,  // anything that is read as text, such as JSON
  other
};
// By the type, or for a URL without one by the end of its path.
FileKind kind_of(const FilePart& file);

// The bytes that this request has of a file; nullptr for a URL, and where there are none.
const std::string* bytes_in(const TurnRequest& request, const FilePart& file);

// "data:image/png;base64,...".
std::string data_url(const FilePart& file, std::string_view bytes);

// A text file as part of the conversation.
std::string told_text(const FilePart& file, std::string_view bytes);

// What the model is told in place of a file that it does not get, and why.
std::string note_on(const TurnRequest& request, const FilePart& file);

// What comes before the files of a result where they stand apart from it.
std::string files_heading(const ToolResultPart& result);

}  // namespace errand::llm
