// The agent that the official compatibility kit of A2A asks for, on Errand's A2A server. Prints its
// URL and serves until its standard input ends. Usage: a2a_tck [PORT]

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <iostream>
#include <string>

#include "a2a/server/agent_endpoint.hpp"
#include "async/blocking_pool.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "net/server/http_server.hpp"
#include "support/a2a_tck/fixture.hpp"

namespace errand::a2a::tck {
namespace {

constexpr milliseconds kDrain = seconds(1);

net::Response render_error(const Error& error) {
  return {.status = error.code() == ErrorCode::not_found ? 404 : 400,
          .content_type = "text/plain",
          .body = error.describe()};
}

class Program final {
 public:
  Program(asio::io_context& io, Log& log)
      : home_(io),
        timers_(home_),
        fixture_(std::make_shared<Fixture>(home_.executor(), timers_, clock_)),
        server_(home_,
                {.handler = [this](net::Request request) { return answer(std::move(request)); },
                 .render_error = render_error},
                log),
        input_(io, ::dup(0)) {}

  bool listen(std::uint16_t port) {
    auto endpoint = server_.listen("127.0.0.1", port);
    if (!endpoint) {
      std::cerr << endpoint.error().describe() << std::endl;
      return false;
    }
    url_ = cat("http://127.0.0.1:", endpoint->port, "/");
    std::cout << url_ << std::endl;
    return true;
  }

  ::errand::Task<void> run() {
    char byte = 0;
    for (;;) {
      auto [error, count] = co_await input_.async_read_some(asio::buffer(&byte, 1), as_result);
      if (error || count == 0) break;
    }
    co_await server_.stop(std::chrono::steady_clock::now() + kDrain);
    co_await fixture_->stop();
  }

 private:
  ::errand::Task<net::Response> answer(net::Request request) {
    if (request.method == net::Method::get && request.path == "/.well-known/agent-card.json") {
      net::Response response;
      response.headers.push_back({"Cache-Control", "max-age=60"});
      response.body = json::write(Fixture::card(url_));
      co_return response;
    }
    if (request.method != net::Method::post) {
      co_return render_error(Error(ErrorCode::not_found, "there is nothing here"));
    }
    auto answered = co_await answer_post(fixture_, std::move(request), nullptr);
    if (!answered) co_return render_error(answered.error());
    co_return std::move(*answered);
  }

  SystemClock clock_;
  Home home_;
  AsioTimers timers_;
  const std::shared_ptr<Fixture> fixture_;
  std::string url_;
  net::HttpServer server_;
  asio::posix::stream_descriptor input_;
};

int serve(std::uint16_t port) {
  asio::io_context io(1);
  SystemClock clock;
  Log log(clock, 2, LogFormat::text);
  Program program(io, log);
  if (!program.listen(port)) return 1;
  asio::co_spawn(io, program.run(), [](std::exception_ptr thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
  io.run();
  return 0;
}

}  // namespace
}  // namespace errand::a2a::tck

int main(int argc, char** argv) {
  auto port = errand::parse_integer<std::uint16_t>(argc > 1 ? argv[1] : "0");
  if (!port) {
    std::cerr << "usage: a2a_tck [PORT]" << std::endl;
    return 2;
  }
  return errand::a2a::tck::serve(*port);
}
