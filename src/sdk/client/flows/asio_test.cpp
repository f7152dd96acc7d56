// <errand/asio.hpp>: calls without a thread that waits, and handlers that are coroutines.
#include <errand/asio.hpp>
#include <errand/errand.hpp>

#include <gtest/gtest.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <memory>
#include <thread>

namespace errand::v1::asio_test {
namespace {

namespace io = boost::asio;
using io::use_awaitable;

struct City {
  std::string name;
};

RuntimeOptions one_thread(std::vector<ScriptedTurn> turns) {
  return {.models = {{.id = "m", .model = scripted(std::move(turns))}},
          .handlers = {.threads_max = 1}};
}

ScriptedTurn asks_for(std::vector<std::string> cities) {
  ScriptedTurn turn;
  for (std::string& city : cities) {
    turn.calls.push_back({.tool = "weather", .arguments = Json::object({{"name", city}})});
  }
  return turn;
}

RunOptions with_tool(const Tool& tool) {
  return {.prompt = "Go.", .tools = {tool}};
}

void run_loop(io::io_context& loop, io::awaitable<void> task) {
  io::co_spawn(loop, std::move(task), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
  loop.run();
  loop.restart();
}

io::steady_timer never(const io::any_io_executor& executor) {
  return io::steady_timer(executor, std::chrono::steady_clock::time_point::max());
}

// ---- Calls --------------------------------------------------------------------------------------

io::awaitable<void> run_and_read(const Runner* runner, std::vector<std::string>* seen) {
  Reply reply = co_await async_run(*runner, {.prompt = "Go."}, use_awaitable);
  seen->push_back(reply.text);
  RunStream stream = co_await async_stream(*runner, {.prompt = "Go."}, use_awaitable);
  for (;;) {
    std::optional<Event> event = co_await async_next(stream, use_awaitable);
    if (!event) break;
    if (const auto* end = event->as<RunEnded>()) seen->push_back(end->reply.text);
  }
  RunStream again = co_await async_attach(*runner, stream.run_id(), {}, use_awaitable);
  while (co_await async_next(again, use_awaitable)) {
  }
  Session session = runner->session({});
  Reply said = co_await async_run(session, {.prompt = "Hi."}, use_awaitable);
  seen->push_back(said.text);
}

TEST(Asio, ACoroutineRunsAndReadsWithoutAThread) {
  io::io_context loop;
  Runtime runtime(one_thread({{.text = "One."}}));
  std::vector<std::string> seen;
  run_loop(loop, run_and_read(&runtime, &seen));
  EXPECT_EQ(seen, (std::vector<std::string>{"One.", "One.", "One."}));
}

io::awaitable<void> run_that_fails(const Runner* runner, std::string* why) {
  try {
    co_await async_run(*runner, {.prompt = "Go."}, use_awaitable);
  } catch (const RunError& error) {
    *why = error.reason();
  }
}

TEST(Asio, AFailedRunThrows) {
  io::io_context loop;
  Runtime runtime(one_thread({{.error = Error(ErrorCode::unauthorized, "no")}}));
  std::string why;
  run_loop(loop, run_that_fails(&runtime, &why));
  EXPECT_EQ(why, "run_failed");
}

TEST(Asio, ARunnerThatIsClosedEndsWhatWaits) {
  std::promise<void> begun;
  auto runtime = std::make_unique<Runtime>(one_thread({asks_for({"Lagos"})}));
  Tool wait = tool("weather", "", [&](const City&, ToolContext& context) {
    begun.set_value();
    while (!context.cancelled()) std::this_thread::yield();
  });
  io::io_context loop;
  ErrorCode code = ErrorCode::internal;
  async_run(*runtime, with_tool(wait),
            io::bind_executor(loop, [&](std::exception_ptr thrown, const Reply&) {
              try {
                if (thrown) std::rethrow_exception(thrown);
              } catch (const Error& error) {
                code = error.code();
              }
            }));
  begun.get_future().wait();
  runtime.reset();
  loop.run();
  EXPECT_EQ(code, ErrorCode::cancelled);
}

// ---- Handlers -----------------------------------------------------------------------------------

// Each call waits until both have begun.
io::awaitable<std::string> meet(City city, int* begun, io::steady_timer* both) {
  if (++*begun == 2) {
    both->cancel();
  } else {
    boost::system::error_code woken;
    co_await both->async_wait(io::redirect_error(use_awaitable, woken));
  }
  co_return "sun in " + city.name;
}

TEST(Asio, HandlersThatWaitNeedNoThread) {
  auto model = scripted({asks_for({"Lagos", "Oslo"}), {.text = "Done."}});
  io::io_context loop;
  Runtime runtime({.models = {{.id = "m", .model = model}}, .handlers = {.threads_max = 1}});
  int begun = 0;
  io::steady_timer both = never(loop.get_executor());
  Tool weather = async_tool(loop.get_executor(), "weather", "",
                            [&](City city) { return meet(std::move(city), &begun, &both); });
  std::string text;
  async_run(
      runtime, with_tool(weather),
      io::bind_executor(loop, [&](std::exception_ptr, const Reply& reply) { text = reply.text; }));
  loop.run();
  EXPECT_EQ(text, "Done.");
  const Question asked = model->questions().at(1);
  ASSERT_EQ(asked.messages.back().results.size(), 2U);
  EXPECT_EQ(asked.messages.back().results[0].text, "sun in Lagos");
  EXPECT_EQ(asked.messages.back().results[1].text, "sun in Oslo");
}

class Noted final {
 public:
  explicit Noted(bool* is_over) : is_over_(is_over) {}
  ~Noted() { *is_over_ = true; }

 private:
  bool* const is_over_;
};

io::awaitable<std::string> forever(io::steady_timer* begun, bool* is_over) {
  Noted noted(is_over);
  begun->cancel();
  auto executor = co_await io::this_coro::executor;
  io::steady_timer timer = never(executor);
  co_await timer.async_wait(use_awaitable);
  co_return "never";
}

io::awaitable<void> run_until(const Runner* runner, RunOptions options, io::steady_timer* begun,
                              std::size_t* first) {
  using namespace io::experimental::awaitable_operators;
  boost::system::error_code woken;
  auto done = co_await (async_run(*runner, std::move(options), use_awaitable) ||
                        begun->async_wait(io::redirect_error(use_awaitable, woken)));
  *first = done.index();
}

TEST(Asio, WhoNoLongerWaitsCancelsTheRunAndItsHandlers) {
  io::io_context loop;
  Runtime runtime(one_thread({asks_for({"Lagos"}), {.text = "Done."}}));
  io::steady_timer begun = never(loop.get_executor());
  bool is_over = false;
  std::size_t first = 0;
  Tool weather = async_tool(loop.get_executor(), "weather", "",
                            [&](const City&) { return forever(&begun, &is_over); });
  run_loop(loop, run_until(&runtime, with_tool(weather), &begun, &first));
  EXPECT_EQ(first, 1U);
  EXPECT_TRUE(is_over);
  EXPECT_EQ(runtime.list().runs.at(0).status, RunStatus::cancelled);
}

io::awaitable<City> give_back(const City& city, ToolContext& context) {
  if (city.name == "Atlantis") throw std::runtime_error("no such city");
  context.progress("half");
  co_return City{city.name + "!"};
}

TEST(Asio, AHandlerTakesAndGivesWhatOthersDo) {
  io::io_context loop;
  auto kept = io::make_work_guard(loop);
  std::thread thread([&loop] { loop.run(); });
  Tool weather = async_tool(loop.get_executor(), "weather", "", give_back);
  EXPECT_EQ(weather.input_schema(), schema_of<City>());
  EXPECT_EQ(*weather.output_schema(), schema_of<City>());
  EXPECT_EQ(weather.call(Json::object({{"name", "Lagos"}})).text(), R"({"name":"Lagos!"})");
  EXPECT_EQ(weather.call(Json::object({{"name", "Atlantis"}})), ToolResult::failed("no such city"));
  EXPECT_EQ(weather.call(Json::object({{"name", 7}})).outcome, ToolOutcome::failed);
  kept.reset();
  thread.join();
}

TEST(Asio, ALoopThatIsDestroyedAnswersItsCalls) {
  auto loop = std::make_unique<io::io_context>();
  auto begun = std::make_unique<io::steady_timer>(loop->get_executor());
  bool is_over = false;
  Tool weather = async_tool(loop->get_executor(), "weather", "",
                            [&](const City&) { return forever(begun.get(), &is_over); });
  ToolResult result;
  weather.start(std::make_shared<ToolContext>(), Json::object({{"name", "Lagos"}}),
                [&result](ToolResult given) { result = std::move(given); });
  loop->poll();
  EXPECT_FALSE(is_over);
  begun.reset();
  loop.reset();
  EXPECT_TRUE(is_over);
  EXPECT_EQ(result, ToolResult::failed("The program ended before the tool was done."));
}

}  // namespace
}  // namespace errand::v1::asio_test
