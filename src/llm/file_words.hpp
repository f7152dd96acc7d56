#pragma once

#include <string>
#include <string_view>

#include "llm/model.hpp"

namespace errand::llm {

// Files in a vendor's request. If the vendor does not take a file, the model gets a note in words
// instead; the run never fails because of it.

// The kinds that most vendors distinguish.
enum class FileKind {
  image,  // PNG, JPEG, GIF, WebP
  pdf,
  text,  // anything that can be read as text, such as JSON
  other
};
// Follows the MIME type, or the end of the path of a URL without one.
FileKind kind_of(const FilePart& file);

// The file's bytes in this request. nullptr for a URL, for an empty file, and if the bytes were
// lost or left out.
const std::string* bytes_in(const TurnRequest& request, const FilePart& file);

// "data:image/png;base64,...".
std::string data_url(const FilePart& file, std::string_view bytes);

// A text file as part of the conversation.
std::string told_text(const FilePart& file, std::string_view bytes);

// Tells the model that it does not get this file, and why.
std::string note_on(const TurnRequest& request, const FilePart& file);

// The same of an image, for a model that does not see.
std::string note_on_image(const FilePart& file);

// The heading of a result's files, where they are sent apart from the result.
std::string files_heading(const ToolResultPart& result);

}  // namespace errand::llm
