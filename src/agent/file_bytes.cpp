#include "agent/file_bytes.hpp"

#include <utility>

#include "crypto/digest.hpp"

namespace errand::agent {

std::vector<RunBlob> take_bytes(std::vector<FilePart>& files) {
  std::vector<RunBlob> blobs;
  for (FilePart& file : files) {
    if (!file.bytes) continue;
    file.sha256 = crypto::to_hex(crypto::sha256(*file.bytes));
    blobs.push_back({.hash = file.sha256, .bytes = std::exchange(file.bytes, nullptr)});
  }
  return blobs;
}

}  // namespace errand::agent
