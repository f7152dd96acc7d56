#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "async/blocking_pool.hpp"
#include "async/breath.hpp"

namespace errand {

// What `work` (a function returning a Result) gives, done on the pool; without a pool (nullptr) at
// once. `pool` outlives the task. unavailable: the pool takes no more calls.
template <class Work>
Task<std::invoke_result_t<Work>> run_aside(BlockingPool* pool, Work work) {
  if (!pool) co_return work();
  auto out = co_await pool->run(std::move(work));
  co_return out;
}

// The same for work that has to be done in any case: if the pool takes no more calls, it is done at
// once. The work itself never says `unavailable`.
template <class Work>
Task<std::invoke_result_t<Work>> surely_aside(BlockingPool* pool, Work work) {
  if (!pool) co_return work();
  auto shared = std::make_shared<Work>(std::move(work));
  auto out = co_await pool->run([shared] { return (*shared)(); });
  const bool is_refused = !out && out.error().code() == ErrorCode::unavailable;
  if (is_refused) out = (*shared)();
  co_return out;
}

// Lets go of `what` on the pool: to free megabytes takes milliseconds. Without a pool (nullptr), or
// if it takes no more calls, at once.
template <class T>
Task<void> free_aside(BlockingPool* pool, T what) {
  auto free = [what = std::move(what)]() mutable {
    [[maybe_unused]] const T gone = std::move(what);
    return Result<void>();
  };
  [[maybe_unused]] auto freed = co_await surely_aside(pool, std::move(free));
}

// What `read` (a function returning a Result) makes of a text that a stranger sent. A long text is
// read on the pool, so that nobody on the home waits for it; without a pool (nullptr) it is read at
// once. `text` and `pool` outlive the task; the text is whole again when the task returns.
// unavailable: the pool takes no more calls.
template <class Read>
Task<std::invoke_result_t<Read, std::string_view>> read_aside(std::string* text, BlockingPool* pool,
                                                              Read read) {
  if (!pool || text->size() <= kBytesInABreath) co_return read(std::string_view(*text));
  // The pool may still be reading when whoever asked is gone.
  auto kept = std::make_shared<std::string>(std::move(*text));
  auto out = co_await pool->run([kept, read] { return read(std::string_view(*kept)); });
  *text = std::move(*kept);
  co_return out;
}

}  // namespace errand
