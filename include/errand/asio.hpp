#pragma once

// For programs with Boost.Asio: completions on the program's own executor, and handlers that are
// coroutines. The only header here that includes Boost, and no part of <errand/errand.hpp>.
#include <concepts>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <errand/runner.hpp>
#include <errand/tool.hpp>

namespace errand::ERRAND_V1 {

// ---- Calls of a runner --------------------------------------------------------------------------
//
// The same as the calls of a Runner, a Session and a RunStream, without a thread that waits. The
// completion is delivered on the token's associated executor: the coroutine's with use_awaitable,
// bind_executor's with a callback. The arguments before the token must outlive the call. The loop
// of that executor outlives the Client or Runtime, whose thread may still be posting a completion
// that has already run: declare the loop first. g++ 12 miscompiles braces inside co_await: name the
// options before the call.

// Runs an agent: void(std::exception_ptr, Reply). Cancelling the token's slot, as `||` of
// awaitable_operators does, asks the run to stop; the completion then comes with its end.
template <class Token>
auto async_run(const Runner& runner, RunOptions options, Token&& token);
// Says something in a session, in the same way.
template <class Token>
auto async_run(const Session& session, RunOptions message, Token&& token);

// Starts a run and shows it, or joins one: void(std::exception_ptr, RunStream).
template <class Token>
auto async_stream(const Runner& runner, RunOptions options, Token&& token);
template <class Token>
auto async_attach(const Runner& runner, std::string run_id, AttachOptions options, Token&& token);

// The next event of a stream, nothing after the last one: void(std::exception_ptr,
// std::optional<Event>).
template <class Token>
auto async_next(RunStream& stream, Token&& token);

// Cancels a run: void(std::exception_ptr, RunStatus).
template <class Token>
auto async_cancel(const Runner& runner, std::string run_id, Token&& token);

// ---- Tools whose handlers are coroutines --------------------------------------------------------

// The same as `tool` for a handler that returns a boost::asio::awaitable of what handlers return.
// It runs on a strand of `executor` and needs no thread while it waits. The coroutine is cancelled
// when its result is no longer wanted: the call has timed out, the run was cancelled or the runner
// is closed. The handler may take its arguments and the ToolContext by reference: both live until
// it has ended. Tool::call waits for the coroutine, so it must not be called on the executor's only
// thread.
template <class Handler>
  requires(!std::is_member_function_pointer_v<Handler>)
Tool async_tool(boost::asio::any_io_executor executor, std::string name, std::string description,
                Handler handler, ToolOptions options = {});
// A member function; see `tool`.
template <class Method, class Object>
  requires std::is_member_function_pointer_v<Method>
Tool async_tool(boost::asio::any_io_executor executor, std::string name, std::string description,
                Method method, Object&& object, ToolOptions options = {});

// ---- Implementation -----------------------------------------------------------------------------

namespace detail {

// A completion handler, and the work that keeps its executor's loop alive.
template <class Completion, class T>
class AsioCompletion final : public std::enable_shared_from_this<AsioCompletion<Completion, T>> {
 public:
  using Executor = boost::asio::associated_executor_t<Completion>;

  explicit AsioCompletion(Completion of)
      : completion_(std::move(of)), work_(boost::asio::get_associated_executor(completion_)) {}

  // From any thread.
  void deliver(Result<T> result) {
    auto executor = work_.get_executor();
    boost::asio::post(executor,
                      [self = this->shared_from_this(), result = std::move(result)]() mutable {
                        auto kept = std::move(self);
                        kept->complete(std::move(result));
                      });
  }

  auto slot() const { return boost::asio::get_associated_cancellation_slot(completion_); }

 private:
  void complete(Result<T> result) {
    std::exception_ptr thrown;
    if (!result) thrown = run_exception(result.error());
    work_.reset();
    std::move(completion_)(std::move(thrown), result ? *std::move(result) : T{});
  }

  Completion completion_;
  boost::asio::executor_work_guard<Executor> work_;
};

// Starts an operation that reports its end to a std::function<void(Result<T>)>.
template <class T, class Start, class Token>
auto async_call(Start start, Token&& token) {
  return boost::asio::async_initiate<Token, void(std::exception_ptr, T)>(
      [](auto completion, Start begin) {
        using Completion = AsioCompletion<decltype(completion), T>;
        auto shared = std::make_shared<Completion>(std::move(completion));
        auto slot = shared->slot();
        begin(slot, [shared](Result<T> result) { shared->deliver(std::move(result)); });
      },
      token, std::move(start));
}

// Starts a run that the slot cancels.
template <class Slot, class Start>
void start_run(Slot slot, Start start) {
  if (!slot.is_connected()) {
    start();
    return;
  }
  auto run = std::make_shared<AsyncRun>();
  slot.assign([run](boost::asio::cancellation_type) { run->cancel(); });
  *run = start();
}

template <class T>
struct AwaitableOf {
  static_assert(kNever<T>, "errand: the handler of async_tool returns a boost::asio::awaitable.");
  using Value = void;
};
template <class T, class Executor>
struct AwaitableOf<boost::asio::awaitable<T, Executor>> {
  using Value = T;
};

// A call of a handler that is a coroutine. Who is left of the coroutine and the context keeps it.
template <class Arguments>
class AsioCall final {
 public:
  using Strand = boost::asio::strand<boost::asio::any_io_executor>;

  AsioCall(boost::asio::any_io_executor executor, std::shared_ptr<ToolContext> of,
           HandlerDone tells)
      : strand(boost::asio::make_strand(std::move(executor))),
        context(std::move(of)),
        done_(std::move(tells)) {}
  // A loop that is destroyed takes its coroutines with it.
  ~AsioCall() {
    if (done_) finish(nullptr, ToolResult::failed("The program ended before the tool was done."));
  }
  AsioCall(const AsioCall&) = delete;
  AsioCall& operator=(const AsioCall&) = delete;

  void finish(std::exception_ptr thrown, ToolResult result) {
    std::exchange(done_, {})(std::move(thrown), std::move(result));
  }

  const Strand strand;
  const std::shared_ptr<ToolContext> context;
  Arguments arguments{};
  boost::asio::cancellation_signal signal;

 private:
  HandlerDone done_;
};

template <class F>
class AsioHandler final : public Handler {
  using S = decltype(signature_of<F>());
  using Shape = Shapes<typename S::Taken>;

 public:
  using Parameter = typename Shape::Arguments;
  using Value = typename AwaitableOf<typename S::Returned>::Value;

  AsioHandler(boost::asio::any_io_executor executor, F f)
      : executor_(std::move(executor)), f_(std::move(f)) {}

  ToolResult call(ToolContext& context, const Json& arguments) const override {
    using Outcome = std::pair<std::exception_ptr, ToolResult>;
    auto outcome = std::make_shared<std::promise<Outcome>>();
    auto waiting = context.wait_elsewhere();
    start(std::shared_ptr<ToolContext>(std::shared_ptr<void>(), &context), arguments,
          [outcome](std::exception_ptr thrown, ToolResult result) {
            outcome->set_value({std::move(thrown), std::move(result)});
          });
    auto [thrown, result] = outcome->get_future().get();
    if (thrown) std::rethrow_exception(thrown);
    return std::move(result);
  }

  void start(const std::shared_ptr<ToolContext>& context, const Json& arguments,
             HandlerDone done) const override {
    using Arguments =
        std::conditional_t<std::is_void_v<Parameter>, NoArguments, std::remove_cvref_t<Parameter>>;
    Arguments given{};
    if constexpr (!std::is_void_v<Parameter>) read_arguments(kOps<Arguments>, arguments, &given);
    auto call = std::make_shared<AsioCall<Arguments>>(executor_, context, std::move(done));
    call->arguments = std::move(given);
    // The handler itself begins on the strand, like its coroutine.
    boost::asio::post(call->strand, [this, call] { begin(call); });
    context->on_cancel([weak = std::weak_ptr<AsioCall<Arguments>>(call)] {
      auto wanted = weak.lock();
      if (!wanted) return;
      auto strand = wanted->strand;
      boost::asio::post(strand, [wanted = std::move(wanted)] {
        wanted->signal.emit(boost::asio::cancellation_type::terminal);
      });
    });
  }

 private:
  // The call keeps the tool, and with it this.
  template <class Call>
  void begin(const std::shared_ptr<Call>& call) const {
    try {
      boost::asio::co_spawn(
          call->strand, made(*call),
          boost::asio::bind_cancellation_slot(call->signal.slot(),
                                              [call](std::exception_ptr thrown, auto... value) {
                                                end(*call, std::move(thrown), std::move(value)...);
                                              }));
    } catch (...) {
      call->finish(std::current_exception(), {});
    }
  }

  template <class Call>
  auto made(Call& call) const {
    if constexpr (std::is_void_v<Parameter>) {
      return Shape::call(f_, *call.context);
    } else if constexpr (std::is_lvalue_reference_v<Parameter>) {
      return Shape::call(f_, *call.context, std::as_const(call.arguments));
    } else {
      return Shape::call(f_, *call.context, std::move(call.arguments));
    }
  }

  template <class Call, class... V>
  static void end(Call& call, std::exception_ptr thrown, V... value) {
    ToolResult result;
    try {
      if (thrown) std::rethrow_exception(thrown);
      if constexpr (sizeof...(V) == 0) {
        result = empty_result();
      } else {
        result = to_result(std::move(value)...);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    call.finish(std::move(thrown), std::move(result));
  }

  const boost::asio::any_io_executor executor_;
  mutable F f_;
};

}  // namespace detail

template <class Token>
auto async_run(const Runner& runner, RunOptions options, Token&& token) {
  return detail::async_call<Reply>(
      [&runner, options = std::move(options)](auto slot, auto done) mutable {
        detail::start_run(slot, [&] { return runner.run_async(std::move(options), done); });
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_run(const Session& session, RunOptions message, Token&& token) {
  return detail::async_call<Reply>(
      [session, message = std::move(message)](auto slot, auto done) mutable {
        detail::start_run(slot, [&] { return session.run_async(std::move(message), done); });
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_stream(const Runner& runner, RunOptions options, Token&& token) {
  return detail::async_call<RunStream>(
      [&runner, options = std::move(options)](auto, auto done) mutable {
        runner.stream_async(std::move(options), std::move(done));
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_attach(const Runner& runner, std::string run_id, AttachOptions options, Token&& token) {
  return detail::async_call<RunStream>(
      [&runner, run_id = std::move(run_id), options = std::move(options)](auto, auto done) mutable {
        runner.attach_async(run_id, std::move(options), std::move(done));
      },
      std::forward<Token>(token));
}

template <class Token>
auto async_next(RunStream& stream, Token&& token) {
  return detail::async_call<std::optional<Event>>(
      [&stream](auto, auto done) { stream.next_async(std::move(done)); },
      std::forward<Token>(token));
}

template <class Token>
auto async_cancel(const Runner& runner, std::string run_id, Token&& token) {
  return detail::async_call<RunStatus>(
      [&runner, run_id = std::move(run_id)](auto, auto done) {
        runner.cancel_async(run_id, std::move(done));
      },
      std::forward<Token>(token));
}

template <class Handler>
  requires(!std::is_member_function_pointer_v<Handler>)
Tool async_tool(boost::asio::any_io_executor executor, std::string name, std::string description,
                Handler handler, ToolOptions options) {
  using H = detail::AsioHandler<Handler>;
  detail::ToolParts parts{std::move(name),
                          std::move(description),
                          std::nullopt,
                          detail::input_schema_for<typename H::Parameter>(),
                          detail::output_schema_for<typename H::Value>(),
                          std::make_shared<const H>(std::move(executor), std::move(handler)),
                          options};
  return detail::make_tool(std::move(parts));
}

template <class Method, class Object>
  requires std::is_member_function_pointer_v<Method>
Tool async_tool(boost::asio::any_io_executor executor, std::string name, std::string description,
                Method method, Object&& object, ToolOptions options) {
  return async_tool(std::move(executor), std::move(name), std::move(description),
                    detail::bind_method(method, std::forward<Object>(object)), std::move(options));
}

}  // namespace errand::ERRAND_V1
