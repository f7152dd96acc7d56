#include "load/session_play.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include "async/task_group.hpp"
#include "load/run_client.hpp"

namespace errand::load {

SessionPlay::SessionPlay(const Options& options)
    : options_(options),
      requests_(options),
      server_(asio::ip::address_v4::loopback(), options.port) {}

void SessionPlay::work(const char* name, Task<void> (SessionPlay::*worker)()) {
  TaskGroup tasks(io_.get_executor(), [this](const char* task, const std::string& what) {
    tally_.failed(std::string(task) + ": " + what);
  });
  for (std::size_t i = 0; i < std::min(options_.in_flight, options_.sessions); ++i) {
    tasks.spawn(name, (this->*worker)());
  }
  const SteadyTime begun = std::chrono::steady_clock::now();
  io_.restart();
  io_.run();
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void SessionPlay::play(std::istream& in, std::ostream& out) {
  work("load.begin", &SessionPlay::begin_worker);
  std::string line;
  json::ObjectWriter(line).field("event", "waiting").field("runs", sessions_.size()).end();
  out << line << '\n' << std::flush;
  std::getline(in, line);
  work("load.message", &SessionPlay::message_worker);
  line.clear();
  json::ObjectWriter json(line);
  tally_.report(json, seconds_);
  tally_.report_latencies(json, seconds_);
  json.end();
  out << line << '\n' << std::flush;
}

Task<void> SessionPlay::begin_worker() {
  Connection connection(io_.get_executor(), server_);
  while (begun_ < options_.sessions) {
    ++begun_;
    auto session = co_await begin(&connection);
    if (session) {
      sessions_.push_back(std::move(*session));
    } else {
      tally_.failed(session.error().describe());
      connection.close();
    }
  }
}

Task<Result<std::string>> SessionPlay::begin(Connection* connection) {
  ERRAND_CO_TRY(std::string body, co_await exchange(connection, requests_.create_session(), 201));
  ERRAND_CO_TRY(std::string session, read_id(body, "sessionId"));
  for (std::size_t i = 0; i < options_.turns; ++i) {
    ERRAND_CO_CHECK(co_await say(connection, session));
  }
  co_return session;
}

Task<Result<void>> SessionPlay::say(Connection* connection, std::string session) {
  RunClient client(requests_, *connection);
  ERRAND_CO_CHECK(co_await client.start(requests_.message(session)));
  ERRAND_CO_TRY(auto progress, co_await client.follow());
  if (progress == RunClient::Progress::ended) co_return Result<void>();
  co_return Error(ErrorCode::unavailable, "the run waits for its client");
}

Task<void> SessionPlay::message_worker() {
  Connection connection(io_.get_executor(), server_);
  while (tally_.started < options_.runs && !sessions_.empty()) {
    ++tally_.started;
    // A session is in the hands of one worker: there are no fewer sessions than workers.
    const std::string session = sessions_[next_++ % sessions_.size()];
    const SteadyTime begun = std::chrono::steady_clock::now();
    auto said = co_await say(&connection, session);
    if (said) {
      tally_.add_run(begun);
    } else {
      tally_.failed(said.error().describe());
      connection.close();
    }
  }
}

}  // namespace errand::load
