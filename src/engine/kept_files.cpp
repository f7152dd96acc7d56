#include "engine/kept_files.hpp"

namespace errand::engine {

std::vector<FilePart> files_of(const JournalEntry& entry) {
  if (const auto* outcome = std::get_if<OutcomeEntry>(&entry)) return outcome->files;
  std::vector<FilePart> files;
  if (const auto* created = std::get_if<CreatedEntry>(&entry)) {
    for (const Message& message : created->spec.messages) {
      files.insert(files.end(), message.files.begin(), message.files.end());
    }
  }
  return files;
}

std::vector<RunBlob> shared_blobs(const std::vector<JournalEntry>& journal) {
  std::vector<RunBlob> blobs;
  for (const JournalEntry& entry : journal) {
    for (const FilePart& file : files_of(entry)) {
      if (file.url.empty()) blobs.push_back({.hash = file.sha256, .bytes = nullptr});
    }
  }
  return blobs;
}

}  // namespace errand::engine
