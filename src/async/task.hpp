#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace errand {

namespace asio = boost::asio;

// A lazily started coroutine. Whoever awaits it owns it; to run one beside others, give it to a
// TaskGroup. A task that is cancelled unwinds at its next co_await: only its destructors run.
template <class T = void>
using Task = asio::awaitable<T>;

using Executor = asio::any_io_executor;

// Completion token that gives (error_code, ...) instead of throwing; inside `net` and `async` only.
inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

}  // namespace errand
