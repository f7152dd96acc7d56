#pragma once

#include <memory>
#include <vector>

#include "agent/fold/state.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "llm/model.hpp"
#include "store/store.hpp"

namespace errand::agent {

// The bytes of all files in one request. Past this limit the oldest files are left out, and the
// model is told so. No vendor refuses a request of this size, with the rest of the conversation.
constexpr std::int64_t kTurnFileBytesMax = 20 * 1024 * 1024;

// The stored files that the next request needs, each once: the newest ones, as many as fit. The
// results of the last turn's calls are part of that request.
std::vector<FilePart> files_to_read(const State& state);

// The memory that a turn takes for its files: their bytes, their base64 in the request, and the
// request's text.
constexpr std::size_t held_bytes(std::size_t file_bytes) {
  return file_bytes + 2 * ((file_bytes + 2) / 3 * 4);
}
std::size_t held_bytes(const std::vector<FilePart>& files);

// Reads the bytes of files. unavailable: the store cannot be read now.
Task<Result<std::shared_ptr<const llm::TurnFiles>>> read_files(Store* store, RunKey run,
                                                               std::vector<FilePart> files);

}  // namespace errand::agent
