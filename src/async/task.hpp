#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace errand {

namespace asio = boost::asio;

// A lazily started coroutine. Whoever awaits it owns it; to run one beside others, give it to a
// TaskGroup. A task that is cancelled unwinds at its next co_await: only its destructors run.
template <class T = void>
using Task = asio::awaitable<T, asio::io_context::executor_type>;

// Of one type, which is one pointer wide: one that may be any takes seven, in every timer, in every
// task and in whatever it waits for.
using Executor = asio::io_context::executor_type;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>;

inline constexpr asio::use_awaitable_t<Executor> use_task;

// Completion token that gives (error_code, ...) instead of throwing; inside `net` and `async` only.
inline constexpr auto as_result = asio::as_tuple(use_task);

}  // namespace errand
