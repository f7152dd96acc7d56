#pragma once

// For programs with Boost.Asio: completions on the program's own executor. The only header here
// that includes Boost, and no part of <errand/errand.hpp>.
#include <exception>
#include <memory>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <errand/runner.hpp>

namespace errand::ERRAND_V1 {

namespace detail {

// A completion handler, and the work that keeps its executor's loop alive.
template <class Handler>
struct AsioCompletion {
  using Executor = boost::asio::associated_executor_t<Handler>;

  explicit AsioCompletion(Handler of)
      : handler(std::move(of)), work(boost::asio::get_associated_executor(handler)) {}

  void operator()(Result<Reply> reply) {
    std::exception_ptr thrown;
    if (!reply) thrown = run_exception(reply.error());
    std::move(handler)(std::move(thrown), reply ? *std::move(reply) : Reply{});
  }

  Handler handler;
  boost::asio::executor_work_guard<Executor> work;
};

}  // namespace detail

// Runs an agent; see Runner::run. The signature of the completion is void(std::exception_ptr,
// Reply), and it is delivered on the executor that is associated with the token: that of the
// coroutine with use_awaitable, that of bind_executor with a callback. The runner must outlive the
// run.
template <class Token>
auto async_run(const Runner& runner, RunOptions options, Token&& token) {
  return boost::asio::async_initiate<Token, void(std::exception_ptr, Reply)>(
      [&runner](auto handler, RunOptions asked) {
        using Completion = detail::AsioCompletion<decltype(handler)>;
        auto completion = std::make_shared<Completion>(std::move(handler));
        runner.run_async(std::move(asked), [completion](Result<Reply> reply) {
          auto executor = completion->work.get_executor();
          boost::asio::post(executor, [completion, reply = std::move(reply)]() mutable {
            auto kept = std::move(completion);
            (*kept)(std::move(reply));
          });
        });
      },
      token, std::move(options));
}

}  // namespace errand::ERRAND_V1
