#include "load/scenarios.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "json/write.hpp"
#include "load/connection.hpp"
#include "load/requests.hpp"
#include "load/run_client.hpp"
#include "load/session_play.hpp"
#include "load/tally.hpp"

namespace errand::load {
namespace {

using asio::ip::tcp;
using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

constexpr milliseconds kBetweenStreams{2};

SteadyTime now() {
  return std::chrono::steady_clock::now();
}

// A run of the scenarios `paused` and `held` with the connection that its stream holds.
struct PausedRun {
  PausedRun(const Requests& requests, Executor home, const tcp::endpoint& server)
      : connection(std::move(home), server), client(requests, connection) {}

  Connection connection;
  RunClient client;
};

// One scenario, on one thread. Each worker has one run after another.
class Play final {
 public:
  explicit Play(const Options& options)
      : options_(options),
        requests_(options),
        server_(asio::ip::address_v4::loopback(), options.port) {}

  void runs();
  void created();
  void paused(std::istream& in, std::ostream& out);
  void held(std::istream& in, std::ostream& out);
  void streams();
  void report(std::ostream& out) const;
  bool is_good() const { return tally_.errors == 0 && tally_.ended == options_.runs; }

 private:
  // Starts as many workers as runs may be in flight, and returns when all are done.
  void work(const char* name, Task<void> (Play::*worker)());

  Task<void> run_worker();
  Task<void> create_worker();
  Task<Result<void>> run_once(RunClient* client, Connection* answers);
  Task<Result<void>> answer_to_end(RunClient* client, Connection* answers);
  // Says that all runs are open, and waits to be told to go on.
  void wait_for_word(std::istream& in, std::ostream& out) const;
  Task<void> open_worker();
  Task<void> close_worker();
  Task<void> stream_worker();
  Task<Result<void>> open(RunClient* client);

  const Options& options_;
  Requests requests_;
  tcp::endpoint server_;
  asio::io_context io_{1};
  SteadyTime begun_;
  Seconds seconds_{};
  Tally tally_;
  std::vector<std::unique_ptr<PausedRun>> waiting_;
};

void Play::work(const char* name, Task<void> (Play::*worker)()) {
  TaskGroup tasks(io_.get_executor(), [this](const char* task, const std::string& what) {
    tally_.failed(std::string(task) + ": " + what);
  });
  for (std::size_t i = 0; i < std::min(options_.in_flight, options_.runs); ++i)
    tasks.spawn(name, (this->*worker)());
  begun_ = now();
  io_.restart();
  io_.run();
  seconds_ += now() - begun_;
}

void Play::runs() {
  tally_.latencies_ms.reserve(options_.runs);
  work("load.run", &Play::run_worker);
}

Task<void> Play::run_worker() {
  Connection stream(io_.get_executor(), server_);
  Connection answers(io_.get_executor(), server_);
  while (tally_.started < options_.runs) {
    ++tally_.started;
    SteadyTime begun = now();
    RunClient client(requests_, stream);
    auto done = co_await run_once(&client, &answers);
    tally_.add(client.counts());
    if (done) {
      tally_.add_run(begun);
    } else {
      tally_.failed(done.error().describe());
      stream.close();
      answers.close();
    }
  }
}

void Play::created() {
  work("load.create", &Play::create_worker);
}

Task<void> Play::create_worker() {
  Connection connection(io_.get_executor(), server_);
  while (tally_.started < options_.runs) {
    const std::size_t number = tally_.started++;
    if (options_.per_second > 0) {
      SteadyTimer start(io_, begun_ + number * nanoseconds(seconds(1)) / options_.per_second);
      co_await start.async_wait(use_task);
    }
    RunClient client(requests_, connection);
    auto done = co_await client.create();
    if (done) {
      ++tally_.ended;
    } else {
      tally_.failed(done.error().describe());
      connection.close();
    }
  }
}

Task<Result<void>> Play::run_once(RunClient* client, Connection* answers) {
  ERRAND_CO_CHECK(co_await client->start());
  co_return co_await answer_to_end(client, answers);
}

Task<Result<void>> Play::answer_to_end(RunClient* client, Connection* answers) {
  for (;;) {
    ERRAND_CO_TRY(auto progress, co_await client->follow());
    if (progress == RunClient::Progress::ended) co_return Result<void>();
    ERRAND_CO_CHECK(co_await client->answer(answers));
  }
}

void Play::paused(std::istream& in, std::ostream& out) {
  work("load.open", &Play::open_worker);
  wait_for_word(in, out);
  work("load.close", &Play::close_worker);
}

void Play::held(std::istream& in, std::ostream& out) {
  work("load.open", &Play::open_worker);
  wait_for_word(in, out);
  tally_.ended = waiting_.size();
}

void Play::wait_for_word(std::istream& in, std::ostream& out) const {
  std::string line;
  json::ObjectWriter(line).field("event", "waiting").field("runs", waiting_.size()).end();
  out << line << '\n' << std::flush;
  std::getline(in, line);
}

Task<void> Play::open_worker() {
  while (tally_.started < options_.runs) {
    ++tally_.started;
    auto run = std::make_unique<PausedRun>(requests_, io_.get_executor(), server_);
    auto opened = co_await open(&run->client);
    if (opened) {
      waiting_.push_back(std::move(run));
    } else {
      tally_.failed(opened.error().describe());
    }
  }
}

Task<Result<void>> Play::open(RunClient* client) {
  ERRAND_CO_CHECK(co_await client->start());
  if (options_.scenario == Scenario::held) co_return co_await client->await_delta();
  ERRAND_CO_TRY(auto progress, co_await client->follow());
  if (progress == RunClient::Progress::waits) co_return Result<void>();
  co_return Error(ErrorCode::unavailable, "the run ended without waiting for its client");
}

Task<void> Play::close_worker() {
  Connection answers(io_.get_executor(), server_);
  while (!waiting_.empty()) {
    std::unique_ptr<PausedRun> run = std::move(waiting_.back());
    waiting_.pop_back();
    auto done = co_await answer_to_end(&run->client, &answers);
    tally_.add(run->client.counts());
    if (done) {
      ++tally_.ended;
    } else {
      tally_.failed(done.error().describe());
      answers.close();
    }
  }
}

void Play::streams() {
  work("load.stream", &Play::stream_worker);
}

Task<void> Play::stream_worker() {
  while (tally_.started < options_.runs) {
    SteadyTimer start(io_, begun_ + tally_.started++ * kBetweenStreams);
    co_await start.async_wait(use_task);
    Connection stream(io_.get_executor(), server_);
    RunClient client(requests_, stream);
    auto done = co_await run_once(&client, nullptr);
    tally_.add(client.counts());
    tally_.add_delays(client.delta_times(), milliseconds(options_.pace_ms));
    if (done) {
      ++tally_.ended;
    } else {
      tally_.failed(done.error().describe());
    }
  }
}

void Play::report(std::ostream& out) const {
  std::string line;
  json::ObjectWriter json(line);
  tally_.report(json, seconds_.count());
  if (options_.scenario == Scenario::runs) tally_.report_latencies(json, seconds_.count());
  if (options_.scenario == Scenario::streams) {
    json.field("deltas", tally_.delays_ms.size())
        .field("deltaP50Ms", json::Value(percentile(tally_.delays_ms, 0.50)))
        .field("deltaP99Ms", json::Value(percentile(tally_.delays_ms, 0.99)));
  }
  json.end();
  out << line << '\n' << std::flush;
}

}  // namespace

bool play(const Options& options, std::istream& in, std::ostream& out) {
  if (options.scenario == Scenario::messages) {
    SessionPlay sessions(options);
    sessions.play(in, out);
    return sessions.is_good();
  }
  Play play(options);
  if (options.scenario == Scenario::paused) {
    play.paused(in, out);
  } else if (options.scenario == Scenario::held) {
    play.held(in, out);
  } else if (options.scenario == Scenario::created) {
    play.created();
  } else if (options.scenario == Scenario::streams) {
    play.streams();
  } else {
    play.runs();
  }
  play.report(out);
  return play.is_good();
}

}  // namespace errand::load
