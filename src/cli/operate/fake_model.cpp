#include "cli/operate/fake_model.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <memory>
#include <utility>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "base/text.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/listen_address.hpp"
#include "cli/terminal/report.hpp"
#include "host/config.hpp"
#include "json/write.hpp"
#include "llm/fake/fake_api.hpp"
#include "net/server/host_rules.hpp"
#include "net/server/http_server.hpp"

namespace errand::cli {
namespace {

constexpr milliseconds kStopMax{500};

// A silent stream must not be cut: vendors send no comments, and a script may pause for up to an
// hour.
net::ServerLimits http_limits() {
  net::ServerLimits limits;
  limits.keep_alive_every = std::chrono::hours(2);
  return limits;
}

// All objects of the serving process, in the order in which they are built.
class FakeModelServer final {
 public:
  FakeModelServer(llm::FakeApi::Options options, ListenAddress address, asio::io_context& io,
                  const Clock& clock, Log& log)
      : address_(std::move(address)),
        clock_(clock),
        log_(log),
        home_(io),
        api_(std::move(options), clock, log, home_.executor()),
        hosts_{.others = is_loopback(address_.host) ? net::HostRules::Others::refused
                                                    : net::HostRules::Others::accepted},
        router_(llm::FakeApi::render_error),
        http_(home_,
              {.handler = [this](net::Request request) { return answer(std::move(request)); },
               .render_error = llm::FakeApi::render_error,
               .limits = http_limits()},
              log),
        signals_(io, SIGINT, SIGTERM),
        tasks_(home_.executor(), [this](const char* task, const std::string& what) {
          log_.error("a task of the server failed; this is a bug",
                     {{"task", task}, {"what", what}});
          exit_code_ = kExitFailed;
        }) {
    api_.add_routes(router_);
  }

  void start() { tasks_.spawn("fake-model", run()); }
  int exit_code() const { return exit_code_; }

 private:
  Task<net::Response> answer(net::Request request) {
    if (!hosts_.allows_host(request.header("host"))) {
      co_return llm::FakeApi::render_error(
          Error(ErrorCode::forbidden, "the Host header names another machine than this one"));
    }
    co_return co_await router_.handle(std::move(request));
  }

  Task<void> run() {
    auto bound = http_.listen(address_.host, address_.port);
    if (!bound) {
      exit_code_ = fail(bound.error());
      co_return;
    }
    std::string url = http_url(bound->host, bound->port);
    if (!is_loopback(address_.host)) {
      log_.warning("reachable from other machines, in the clear: send it no real key");
    }
    log_.info("listening", {{"url", url}});
    std::string line;
    json::ObjectWriter(line).field("event", "ready").field("url", url).end();
    exit_code_ = print(line + "\n");
    co_await signals_.async_wait(as_result);
    co_await http_.stop(clock_.steady_now() + kStopMax);
    log_.info("stopped");
  }

  const ListenAddress address_;
  const Clock& clock_;
  Log& log_;
  Home home_;
  llm::FakeApi api_;
  const net::HostRules hosts_;
  net::Router router_;
  net::HttpServer http_;
  asio::signal_set signals_;
  int exit_code_ = kExitFailed;
  TaskGroup tasks_;  // last: tasks use everything above
};

Result<llm::Script> find_script(const FakeModelOptions& options) {
  if (!options.script.empty()) return host::read_script(options.script);
  return Error(ErrorCode::invalid_argument, "--script FILE is missing: the turns that it plays")
      .hint("a file such as {\"turns\":[{\"text\":[\"Hello!\"]}]}");
}

}  // namespace

int fake_model(const FakeModelOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto address = parse_listen(options.listen);
  if (!address) return fail_usage(address.error());
  auto script = find_script(options);
  if (!script) return fail_usage(script.error());
  SystemClock clock;
  Log log(clock, STDERR_FILENO, options.log_format);
  asio::io_context io(1);
  FakeModelServer server({.script = std::move(*script), .key = options.key}, std::move(*address),
                         io, clock, log);
  server.start();
  io.run();
  return server.exit_code();
}

}  // namespace errand::cli
