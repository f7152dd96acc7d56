#include "engine/kept_files.hpp"

#include <utility>

#include "crypto/digest.hpp"

namespace errand::engine {

std::vector<RunBlob> take_bytes(std::vector<FilePart>& files) {
  std::vector<RunBlob> blobs;
  for (FilePart& file : files) {
    if (!file.bytes) continue;
    file.sha256 = crypto::to_hex(crypto::sha256(*file.bytes));
    blobs.push_back({.hash = file.sha256, .bytes = std::exchange(file.bytes, nullptr)});
  }
  return blobs;
}

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
