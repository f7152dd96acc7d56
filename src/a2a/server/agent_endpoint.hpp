#pragma once

#include <memory>

#include "a2a/server/task_backend.hpp"
#include "async/blocking_pool.hpp"
#include "net/http.hpp"

namespace errand::a2a {

// Answers one POST of a client with the JSON-RPC of A2A, in both versions: verbs, errors, lists and
// streams. `backend` does the work. Long bodies are read on `pool`, which outlives the task;
// without one (nullptr) at once. Errors are those of read_aside: the body was not read.
::errand::Task<Result<net::Response>> answer_post(std::shared_ptr<TaskBackend> backend,
                                                  net::Request request, BlockingPool* pool);

constexpr std::size_t kMessageIdCharsMax = 200;
// Of the files on a page of a list, as they are sent; the page ends with the task that passes it.
constexpr std::size_t kListBytesMax = 16UL * 1024 * 1024;

}  // namespace errand::a2a
