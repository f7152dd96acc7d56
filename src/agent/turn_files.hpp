#pragma once

#include <memory>
#include <vector>

#include "agent/state.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "llm/model.hpp"
#include "store/store.hpp"

namespace errand::agent {

// All files of one question together; of what is more, the oldest are left out, and the model is
// told so. Together with what else a question says, no vendor refuses so much.
constexpr std::int64_t kTurnFileBytesMax = 20 * 1024 * 1024;

// The files with kept bytes that the next question has to bring, each once; the newest ones that
// fit. Results of the last turn's calls are part of that question.
std::vector<FilePart> files_to_read(const State& state);

// Their bytes. unavailable: the store cannot be read now.
Task<Result<std::shared_ptr<const llm::TurnFiles>>> read_files(Store* store, RunKey run,
                                                               std::vector<FilePart> files);

}  // namespace errand::agent
