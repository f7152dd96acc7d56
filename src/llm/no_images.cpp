#include "llm/no_images.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "llm/file_words.hpp"

namespace errand::llm {
namespace {

bool is_image(const FilePart& file) {
  return kind_of(file) == FileKind::image || file.mime_type.starts_with("image/");
}

bool has_image(const std::vector<FilePart>& files) {
  return std::any_of(files.begin(), files.end(), is_image);
}

bool has_image(const Message& message) {
  return has_image(message.files) ||
         std::any_of(message.results.begin(), message.results.end(),
                     [](const ToolResultPart& result) { return has_image(result.files); });
}

void tell_images(std::string& text, std::vector<FilePart>& files) {
  for (const FilePart& file : files) {
    if (is_image(file)) append(text, text.empty() ? "" : "\n", note_on_image(file));
  }
  std::erase_if(files, is_image);
}

// Makes a copy, because earlier requests share the message.
MessagePtr without_images(const Message& message) {
  Message told = message;
  tell_images(told.text, told.files);
  for (ToolResultPart& result : told.results) tell_images(result.text, result.files);
  return std::make_shared<const Message>(std::move(told));
}

}  // namespace

std::unique_ptr<TurnStream> NoImagesModel::ask(TurnRequest request) {
  const auto shows = [](const MessagePtr& message) { return has_image(*message); };
  if (std::ranges::none_of(request.messages, shows)) return model_->ask(std::move(request));
  std::vector<MessagePtr> told(request.messages.begin(), request.messages.end());
  for (MessagePtr& message : told) {
    if (has_image(*message)) message = without_images(*message);
  }
  request.messages = std::move(told);
  return model_->ask(std::move(request));
}

}  // namespace errand::llm
