#include "cli/serve.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "async/blocking_pool.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/config.hpp"
#include "cli/credentials.hpp"
#include "cli/exit_code.hpp"
#include "cli/store_file.hpp"
#include "crypto/random.hpp"
#include "engine/engine.hpp"
#include "engine/key_ring.hpp"
#include "json/write.hpp"
#include "net/http_server.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockingThreads = 2;
constexpr std::size_t kBlockingQueueMax = 10'000;
constexpr milliseconds kDrainPoll{20};
constexpr milliseconds kLastAnswers{500};

// No tool runs in this process yet; clients bring their own.
class NoTools final : public ToolRegistry {
 public:
  Tool* find(std::string_view) override { return nullptr; }
};

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

Result<ListenAddress> parse_listen(const std::string& text) {
  std::size_t colon = text.rfind(':');
  auto port = colon == std::string::npos ? std::nullopt
                                         : parse_integer<std::uint16_t>(text.substr(colon + 1));
  if (!port) {
    return Error(ErrorCode::invalid_argument,
                 cat("--listen ", text, ": expected HOST:PORT, such as 127.0.0.1:7300"));
  }
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return ListenAddress{.host = std::move(host), .port = *port};
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<void> make_data_directory(const fs::path& data) {
  std::error_code error;
  fs::create_directories(data, error);
  if (!error && ::access(data.c_str(), W_OK) == 0) return {};
  return Error(
      ErrorCode::invalid_argument,
      cat("cannot write to the data directory ", data.string(), ": ",
          error ? error.message() : "permission denied", "; choose another one with --data DIR"));
}

// Thousands of streams need thousands of descriptors.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

net::ServerLimits http_limits(const Config& config) {
  net::ServerLimits limits;
  if (config.body_bytes_max) limits.body_bytes_max = *config.body_bytes_max;
  return limits;
}

// Every object of a serving process, in the order they are built.
class Server final {
 public:
  Server(const ServeOptions& options, Config config, std::unique_ptr<SqliteStore> store,
         asio::io_context& io, const Clock& clock, Log& log)
      : options_(options),
        config_(std::move(config)),
        log_(log),
        home_(io),
        timers_(home_),
        ids_(clock, crypto::random_bits),
        store_(std::move(store)),
        client_(client_options_here()),
        catalog_(make_catalog(config_, {.client = client_,
                                        .timers = timers_,
                                        .clock = clock,
                                        .home = home_.executor(),
                                        .log = log})),
        keys_(*store_, clock, ids_),
        engine_({.home = home_,
                 .store = *store_,
                 .clock = clock,
                 .timers = timers_,
                 .ids = ids_,
                 .catalog = catalog_,
                 .tools = tools_,
                 .log = log},
                config_.limits),
        api_(engine_, keys_, {.public_url = options.public_url}),
        router_(server::render_error),
        signals_(io, SIGINT, SIGTERM),
        tasks_(home_.executor(), [this](const char* task, const std::string& what) {
          log_.error("a task of the server failed; this is a bug",
                     {{"task", task}, {"what", what}});
          exit_code_ = kExitFailed;
        }) {
    api_.add_routes(router_);
    net::HttpServer::Options http{
        .handler = [this](net::Request request) { return router_.handle(std::move(request)); },
        .render_error = server::render_error,
        .limits = http_limits(config_)};
    http_ = std::make_unique<net::HttpServer>(home_, std::move(http), log_);
  }

  void start() { tasks_.spawn("serve", run()); }
  int exit_code() const { return exit_code_; }

 private:
  Task<void> run() {
    auto started = co_await begin();
    if (!started) {
      log_.error(started.error().message());
      exit_code_ = started.error().code() == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
      co_return;
    }
    engine_.start();
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (!error) co_await shut_down();
    exit_code_ = kExitOk;
  }

  Task<Result<void>> begin() {
    ERRAND_CO_CHECK(co_await keys_.load());
    ERRAND_CO_TRY(std::string first_key, co_await make_keys());
    ERRAND_CO_TRY(auto address, parse_listen(options_.listen));
    ERRAND_CO_TRY(auto bound, http_->listen(address.host, address.port));
    std::string host =
        bound.host.find(':') == std::string::npos ? bound.host : cat("[", bound.host, "]");
    std::string url = cat("http://", host, ":", bound.port);
    ERRAND_CO_CHECK(keep_credentials(url, first_key));
    print_ready(url, first_key);
    log_.info("listening", {{"url", url}, {"data", options_.data}});
    co_return Result<void>();
  }

  // The keys that the configuration names, and a first one where there is none. The answer is the
  // first key, if this start made it.
  Task<Result<std::string>> make_keys() {
    bool is_first_start = keys_.empty();
    for (const WorkspaceConfig& workspace : config_.workspaces) {
      for (const std::string& secret : workspace.api_keys) {
        if (keys_.find(secret)) continue;
        ERRAND_CO_TRY(auto made,
                      co_await keys_.create(workspace.slug, "configuration file", secret));
      }
    }
    if (!is_first_start) co_return std::string();
    const char* fixed = std::getenv("ERRAND_API_KEY");
    ERRAND_CO_TRY(auto key, co_await keys_.create(*WorkspaceSlug::parse("default"), "first key",
                                                  fixed ? fixed : ""));
    co_return key.secret;
  }

  Result<void> keep_credentials(const std::string& url, const std::string& first_key) {
    fs::path file = fs::path(options_.data) / "credentials";
    Credentials credentials{.url = url, .workspace = "default", .key = first_key};
    if (first_key.empty()) {
      auto former = read_credentials(file);
      if (!former) return {};
      credentials = std::move(*former);
      credentials.url = url;
    }
    return write_credentials(file, credentials);
  }

  static void print_ready(const std::string& url, const std::string& first_key) {
    std::string line;
    json::ObjectWriter out(line);
    out.field("event", "ready").field("url", url).field("workspace", "default");
    if (!first_key.empty()) out.field("apiKey", first_key);
    out.end();
    line += '\n';
    [[maybe_unused]] auto written = ::write(STDOUT_FILENO, line.data(), line.size());
  }

  Task<void> shut_down() {
    log_.info("draining", {{"atMostMs", std::to_string(options_.drain.count())}});
    engine_.drain();
    SteadyTime deadline = timers_.now() + options_.drain;
    bool hurried = false;
    signals_.async_wait([&hurried](boost::system::error_code error, int) { hurried = !error; });
    while (engine_.is_busy() && !hurried && timers_.now() + kLastAnswers < deadline) {
      co_await timers_.sleep_until(timers_.now() + kDrainPoll);
    }
    signals_.cancel();
    co_await http_->stop(std::min(deadline, timers_.now() + kLastAnswers));
    co_await engine_.stop();
    log_.info("stopped");
  }

  const ServeOptions& options_;
  Config config_;
  Log& log_;
  Home home_;
  AsioTimers timers_;
  IdSource ids_;
  std::unique_ptr<SqliteStore> store_;
  NoTools tools_;
  net::HttpClient client_;
  engine::Catalog catalog_;
  engine::KeyRing keys_;
  engine::Engine engine_;
  server::Api api_;
  net::Router router_;
  std::unique_ptr<net::HttpServer> http_;
  asio::signal_set signals_;
  int exit_code_ = kExitFailed;
  TaskGroup tasks_;  // last: tasks use everything above
};

Result<void> check_exposure(const ServeOptions& options) {
  ERRAND_TRY(auto address, parse_listen(options.listen));
  if (is_loopback(address.host) || options.behind_proxy) return {};
  return Error(
      ErrorCode::invalid_argument,
      cat("--listen ", options.listen,
          " is reachable from other machines, and keys would travel in the clear: put a "
          "proxy that speaks TLS in front and say --behind-proxy, or listen on 127.0.0.1"));
}

struct Prepared {
  Config config;
  std::unique_ptr<SqliteStore> store;
};

Result<Prepared> prepare(const ServeOptions& options, BlockingPool& pool, const Clock& clock,
                         Log& log) {
  ERRAND_CHECK(check_exposure(options));
  Prepared prepared;
  ERRAND_TRY(prepared.config, options.config.empty()
                                  ? default_config(environment_here())
                                  : read_config(options.config, environment_here()));
  ERRAND_CHECK(make_data_directory(options.data));
  ERRAND_TRY(auto path, store_file(options.data, options.store));
  ERRAND_TRY(prepared.store,
             SqliteStore::open({.path = path.string(), .clock = clock, .pool = pool, .log = log}));
  return prepared;
}

}  // namespace

int serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  SystemClock clock;
  Log log(clock, STDERR_FILENO, options.log_format);
  BlockingPool pool(kBlockingThreads, kBlockingQueueMax);
  auto prepared = prepare(options, pool, clock, log);
  if (!prepared) {
    const Error& error = prepared.error();
    log.error(error.hint().empty() ? error.message() : cat(error.message(), ". ", error.hint()));
    return prepared.error().code() == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
  }
  asio::io_context io(1);
  Server server(options, std::move(prepared->config), std::move(prepared->store), io, clock, log);
  server.start();
  io.run();
  return server.exit_code();
}

}  // namespace errand::cli
