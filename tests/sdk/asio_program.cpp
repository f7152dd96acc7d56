// A program with a loop of its own: completions and handlers come there, on its one thread.

#include <errand/asio.hpp>
#include <errand/errand.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

struct City {
  std::string name;
};

errand::RuntimeOptions with_model(std::vector<errand::ScriptedTurn> turns) {
  return {.models = {{.id = "m", .model = errand::scripted(std::move(turns))}},
          .handlers = {.threads_max = 1}};
}

errand::ScriptedTurn calls_of(std::vector<std::string> cities, const char* tool) {
  errand::ScriptedTurn turn;
  for (std::string& city : cities) {
    turn.calls.push_back({tool, errand::Json::object({{"name", std::move(city)}})});
  }
  return turn;
}

// Lists in braces within a co_await are too much for g++ 12.
errand::RunOptions with_tool(const errand::Tool& tool) {
  return {.prompt = "Go.", .tools = {tool}};
}

// ---- Callbacks ----------------------------------------------------------------------------------

void show_callbacks(asio::io_context& loop) {
  errand::Runtime runtime(
      {.models = {{.id = "good", .model = errand::scripted({{.text = "It is done."}})},
                  {.id = "bad",
                   .model = errand::scripted(
                       {{.error = errand::Error(errand::ErrorCode::unauthorized, "no")}})}}});
  auto here = std::this_thread::get_id();
  auto show = [&](std::exception_ptr thrown, const errand::Reply& reply) {
    if (std::this_thread::get_id() != here) std::cout << "on another thread\n";
    try {
      if (thrown) std::rethrow_exception(thrown);
      std::cout << reply.text << "\n";
    } catch (const errand::RunError& error) {
      std::cout << error.what() << "\n";
    }
  };
  for (const char* model : {"good", "bad"}) {
    errand::async_run(runtime, {.prompt = "Go.", .model = model}, asio::bind_executor(loop, show));
    loop.run();
    loop.restart();
  }
}

// ---- Coroutines ---------------------------------------------------------------------------------

awaitable<void> show_coroutine(const errand::Runtime& runtime) {
  const errand::RunOptions go{.prompt = "Go."};
  errand::Reply reply = co_await errand::async_run(runtime, go, use_awaitable);
  std::cout << reply.text << "\n";
  errand::RunStream stream = co_await errand::async_stream(runtime, go, use_awaitable);
  int deltas = 0;
  for (;;) {
    std::optional<errand::Event> event = co_await errand::async_next(stream, use_awaitable);
    if (!event) break;
    if (event->as<errand::TextDelta>()) ++deltas;
    if (const auto* end = event->as<errand::RunEnded>()) std::cout << end->reply.text << "\n";
  }
  std::cout << (deltas > 0 ? "streamed\n" : "no deltas\n");
}

// Both calls wait at once, although handlers have one thread.
awaitable<std::string> weather(City city, int* begun, asio::steady_timer* both) {
  if (++*begun == 2) {
    both->cancel();
  } else {
    boost::system::error_code woken;
    co_await both->async_wait(asio::redirect_error(use_awaitable, woken));
  }
  co_return "sun in " + city.name;
}

awaitable<void> show_tools(const errand::Runtime& runtime) {
  auto executor = co_await asio::this_coro::executor;
  int begun = 0;
  asio::steady_timer both(executor, std::chrono::steady_clock::time_point::max());
  errand::Tool tool = errand::async_tool(
      executor, "weather", "The weather.",
      [&begun, &both](City city) { return weather(std::move(city), &begun, &both); });
  errand::RunOptions options = with_tool(tool);
  errand::RunStream stream =
      co_await errand::async_stream(runtime, std::move(options), use_awaitable);
  std::set<std::string> answers;
  for (;;) {
    std::optional<errand::Event> event = co_await errand::async_next(stream, use_awaitable);
    if (!event) break;
    if (const auto* answer = event->as<errand::ToolAnswered>()) answers.insert(answer->text);
  }
  for (const std::string& answer : answers) std::cout << answer << "\n";
}

// A coroutine whose result is no longer wanted is cancelled, and so is its run.
class Told final {
 public:
  explicit Told(bool* has_ended) : has_ended_(has_ended) {}
  ~Told() { *has_ended_ = true; }

 private:
  bool* const has_ended_;
};

awaitable<std::string> forever(asio::steady_timer* begun, bool* has_ended) {
  begun->cancel();
  auto executor = co_await asio::this_coro::executor;
  asio::steady_timer never(executor, std::chrono::steady_clock::time_point::max());
  Told told(has_ended);
  co_await never.async_wait(use_awaitable);
  co_return "never";
}

awaitable<void> show_cancel(const errand::Runtime& runtime, bool* has_ended) {
  using namespace asio::experimental::awaitable_operators;
  auto executor = co_await asio::this_coro::executor;
  asio::steady_timer begun(executor, std::chrono::steady_clock::time_point::max());
  errand::Tool tool =
      errand::async_tool(executor, "weather", "The weather.",
                         [&begun, has_ended](const City&) { return forever(&begun, has_ended); });
  errand::RunOptions options = with_tool(tool);
  boost::system::error_code woken;
  auto first = co_await (errand::async_run(runtime, std::move(options), use_awaitable) ||
                         begun.async_wait(asio::redirect_error(use_awaitable, woken)));
  std::cout << (first.index() == 1 ? "the timer was first\n" : "the run was first\n");
  for (const errand::RunInfo& run : runtime.list().runs) {
    std::cout << errand::to_string(run.status) << "\n";
  }
}

// ---- Ends ---------------------------------------------------------------------------------------

void show_closed_runner(asio::io_context& loop) {
  std::promise<void> begun;
  auto runtime = std::make_unique<errand::Runtime>(with_model({calls_of({"Lagos"}, "wait")}));
  errand::Tool wait = errand::tool("wait", "", [&](const City&, errand::ToolContext& context) {
    begun.set_value();
    while (!context.cancelled()) std::this_thread::yield();
  });
  errand::async_run(*runtime, {.prompt = "Go.", .tools = {wait}},
                    asio::bind_executor(loop, [](std::exception_ptr thrown, const errand::Reply&) {
                      try {
                        if (thrown) std::rethrow_exception(thrown);
                      } catch (const errand::Error& error) {
                        std::cout << errand::to_string(error.code()) << "\n";
                      }
                    }));
  begun.get_future().wait();
  runtime.reset();
  loop.run();
  loop.restart();
}

// A coroutine as a future, for a handler that waits with its thread.
awaitable<std::string> told(City city) {
  co_return "told of " + city.name;
}
void show_future(asio::io_context& loop) {
  errand::Tool tool = errand::tool("tell", "", [&loop](City city) {
    return asio::co_spawn(loop, told(std::move(city)), asio::use_future);
  });
  auto kept = asio::make_work_guard(loop);
  std::thread thread([&loop] { loop.run(); });
  std::cout << tool.call(errand::Json::object({{"name", "Lagos"}})).text() << "\n";
  kept.reset();
  thread.join();
  loop.restart();
}

void run(asio::io_context& loop, awaitable<void> task) {
  asio::co_spawn(loop, std::move(task), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
  loop.run();
  loop.restart();
}

}  // namespace

int main() {
  asio::io_context loop;
  show_callbacks(loop);
  errand::Runtime runtime(with_model({{.text = "One."}}));
  run(loop, show_coroutine(runtime));
  errand::Runtime tools(with_model({calls_of({"Lagos", "Oslo"}, "weather"), {.text = "Done."}}));
  run(loop, show_tools(tools));
  errand::Runtime cancelled(with_model({calls_of({"Lagos"}, "weather"), {.text = "Done."}}));
  bool has_ended = false;
  run(loop, show_cancel(cancelled, &has_ended));
  std::cout << (has_ended ? "the handler has ended\n" : "the handler goes on\n");
  show_closed_runner(loop);
  show_future(loop);
}
