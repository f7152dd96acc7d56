// The server that the official MCP conformance suite wants to find, on our server core and over
// HTTP. Prints its port and serves until its standard input ends.

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "fixture.hpp"
#include "mcp/server/http_endpoint.hpp"
#include "net/server/http_server.hpp"

namespace errand::mcp {
namespace {

void report_bug(const char* task, const std::string& what) {
  std::cerr << "a bug in " << task << ": " << what << std::endl;
  std::exit(2);
}

net::Response render_error(const Error& error) {
  net::Response response;
  response.status = error.reason() == "method_not_allowed" ? 405 : 404;
  response.content_type = "text/plain";
  response.body = error.message();
  return response;
}

class Program final {
 public:
  explicit Program(asio::io_context& io)
      : home_(io),
        log_(clock_, STDERR_FILENO, LogFormat::text),
        endpoint_(home_.executor(), {}, report_bug),
        fixture_(std::make_shared<ConformanceFixture>(endpoint_)),
        router_(render_error),
        server_(
            home_,
            {.handler = [this](net::Request request) { return router_.handle(std::move(request)); },
             .render_error = render_error},
            log_) {
    for (net::Method method : {net::Method::post, net::Method::get, net::Method::delete_}) {
      router_.add(method, "/mcp", [this](net::Request request) {
        return endpoint_.handle(std::move(request), {.owner = "", .features = fixture_});
      });
    }
  }

  Task<void> run() {
    auto bound = server_.listen("127.0.0.1", 0);
    if (!bound) std::exit(1);
    std::cout << bound->port << std::endl;
    asio::posix::stream_descriptor input(home_.executor(), ::dup(STDIN_FILENO));
    char byte = 0;
    co_await input.async_read_some(asio::buffer(&byte, 1), as_result);
    co_await server_.stop(std::chrono::steady_clock::now());
    co_await endpoint_.stop();
  }

 private:
  Home home_;
  SystemClock clock_;
  Log log_;
  HttpEndpoint endpoint_;
  std::shared_ptr<ConformanceFixture> fixture_;
  net::Router router_;
  net::HttpServer server_;
};

}  // namespace
}  // namespace errand::mcp

int main() {
  using namespace errand;
  asio::io_context io(1);
  mcp::Program program(io);
  asio::co_spawn(io, program.run(), [](const std::exception_ptr& thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
  io.run();
  return 0;
}
