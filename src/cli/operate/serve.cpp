#include "cli/operate/serve.hpp"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agent/turn_files.hpp"
#include "async/loop_watch.hpp"
#include "async/task_group.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "base/whole_file.hpp"
#include "cli/operate/held_log.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/listen_address.hpp"
#include "cli/terminal/report.hpp"
#include "host/descriptors.hpp"
#include "host/host.hpp"
#include "host/store_file.hpp"
#include "json/write.hpp"
#include "net/server/http_server.hpp"
#include "net/url.hpp"
#include "run/content.hpp"
#include "run/spec.hpp"
#include "sdk/credentials.hpp"
#include "server/a2a/a2a_api.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "server/mcp/mcp_api.hpp"
#include "server/rooms/room_door.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kDrainPoll{20};
constexpr milliseconds kLastAnswers{500};
constexpr milliseconds kKeyUsesEvery{30'000};
constexpr std::size_t kFirstKeyBytesMin = 20;
constexpr std::size_t kCredentialsBytesMax = 64 * 1024;

net::ServerLimits http_limits(const host::Config& config) {
  net::ServerLimits limits;
  if (config.body_bytes_max) limits.body_bytes_max = *config.body_bytes_max;
  if (config.connections_max) limits.connections_max = *config.connections_max;
  return limits;
}

// The file of the database; empty if the store is of another kind.
std::string database_file(const ServeOptions& options) {
  auto file = host::store_file(options.data, options.store);
  return file ? file->string() : "";
}

// The limits that /metrics reports.
std::vector<server::LimitValue> limit_values(const host::Config& config) {
  const net::ServerLimits http = http_limits(config);
  const engine::SlotLimits& slots = config.limits.slots;
  const agent::TurnLimits& turns = config.limits.turns;
  return {{.name = "runsInFlight", .value = slots.per_workspace},
          {.name = "runsInFlightTotal", .value = slots.in_all},
          {.name = "modelConnections", .value = turns.turns},
          {.name = "fileBytesTotal", .value = turns.file_bytes},
          {.name = "turnFileBytes", .value = agent::kTurnFileBytesMax},
          {.name = "tools", .value = kToolsMax},
          {.name = "offeredTools", .value = kOfferedToolsMax},
          {.name = "conversationBytes", .value = config.limits.conversation_bytes_max},
          {.name = "resultBytes", .value = kResultBytesMax},
          {.name = "bodyBytes", .value = http.body_bytes_max},
          {.name = "connections", .value = http.connections_max}};
}

net::HostRules mcp_hosts(const ServeOptions& options) {
  using Others = net::HostRules::Others;
  return server::host_rules(options.public_url,
                            options.behind_proxy ? Others::accepted : Others::refused);
}

// Empty if spans are off.
std::function<server::SpanTally()> span_counts_of(const host::Host& host) {
  const otlp::SpanCounts* counts = host.span_counts();
  if (!counts) return {};
  return [counts] { return server::SpanTally{.sent = counts->sent, .dropped = counts->dropped}; };
}

// The parts that a server is made of.
struct Prepared {
  host::Config config;
  net::BoundAddress address;
  std::unique_ptr<Store> store;
};

// All objects of a serving process, in the order in which they are built.
class Server final {
 public:
  Server(const ServeOptions& options, Prepared prepared, asio::io_context& io, const Clock& clock,
         Log& log, HeldLog& store_log)
      : options_(options),
        log_(log),
        store_log_(store_log),
        address_(std::move(prepared.address)),
        host_({.io = io, .clock = clock, .log = log, .data = options.data},
              std::move(prepared.config), std::move(prepared.store)),
        rooms_({.home = host_.home(),
                .timers = host_.timers(),
                .clock = clock,
                .store = host_.engine().store(),
                .records = host_.engine().records(),
                .log = log,
                .http = &host_.web(),
                .spans = host_.spans(),
                .pool = host_.engine().pool()},
               {.public_url = options.public_url,
                .makes_rooms = [this](const WorkspaceSlug& slug) { return makes_rooms(slug); },
                .compression = host_.config().compresses_rooms ? net::Compression::on
                                                               : net::Compression::off}),
        api_(host_.engine(), host_.keys(),
             {.public_url = options.public_url,
              .missing_result = host_.config().missing_result,
              .requests_per_minute = host_.config().requests_per_minute,
              .trusts_loopback = !options.behind_proxy,
              .http_counts = [this] { return http_.counts(); },
              .span_counts = span_counts_of(host_),
              .connected = [this] { return connected(); },
              .rooms = &rooms_,
              .data = options.data,
              .database = database_file(options),
              .limits = limit_values(host_.config()),
              .loop = &loop_}),
        mcp_({.engine = host_.engine(),
              .tools = host_.tools(),
              .home = host_.home().executor(),
              .log = log},
             mcp_hosts(options)),
        a2a_({.engine = host_.engine(),
              .base_url = [this](const net::Request& request) { return api_.base_url(request); }}),
        router_(server::render_error),
        http_(
            host_.home(),
            {.handler = [this](net::Request request) { return router_.handle(std::move(request)); },
             .render_error = server::render_error,
             .limits = http_limits(host_.config()),
             .admit =
                 [this](const net::Request& head) {
                   return router_.admit(head, server::Api::open_terms());
                 },
             .behind_proxy = options.behind_proxy},
            log_),
        signals_(io),
        tasks_(host_.home().executor(), [this](const char* task, const std::string& what) {
          log_.error("a task of the server failed; this is a bug",
                     {{"task", task}, {"what", what}});
          exit_code_ = kExitFailed;
        }) {
    host_.rooms().open_gate(rooms_);
    api_.add_guests(mcp_.routes());
    api_.on_tools_changed([this](const WorkspaceSlug& slug) { mcp_.announce_change(slug); });
    host_.mcp_tools().on_offered_changed(
        [this](const WorkspaceSlug& slug) { mcp_.announce_change(slug); });
    api_.add_guests(a2a_.routes());
    api_.add_routes(router_);
  }

  void start() { tasks_.spawn("serve", run()); }
  void drive(asio::io_context& io) { loop_.run(io); }
  int exit_code() const { return exit_code_; }

 private:
  Task<void> run() {
    auto started = co_await begin();
    if (!started) {
      log_.error(started.error().describe());
      exit_code_ = started.error().code() == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
      co_return;
    }
    store_log_.release();
    http_.accept(std::move(address_));
    host_.engine().start();
    plan_key_uses();
    auto [error, signal] = co_await signals_.async_wait(as_result);
    if (!error) co_await shut_down();
    exit_code_ = kExitOk;
  }

  // Everything that can fail happens before the ready line: a start that fails must leave nothing
  // behind that the next start would stumble over.
  Task<Result<void>> begin() {
    ERRAND_CO_CHECK(co_await host_.keys().load());
    const std::string url = http_url(address_.endpoint().host, address_.endpoint().port);
    rooms_.serve_at(url);
    std::string first_key;
    if (host_.keys().empty()) {
      ERRAND_CO_TRY(first_key, choose_first_key());
    }
    ERRAND_CO_CHECK(adopt_keys());
    // The key in the environment may also be in the configuration file, which then says whose key
    // it is.
    const auto owner = host_.keys().find(first_key);
    const std::string workspace = owner ? owner->workspace.str() : "default";
    ERRAND_CO_CHECK(co_await api_.load());
    ERRAND_CO_CHECK(co_await make_rooms());
    rooms_.resume_removals();
    const auto former = former_credentials();
    ERRAND_CO_CHECK(keep_credentials({.url = url, .workspace = workspace, .key = first_key}));
    if (!first_key.empty() && !owner) {
      auto stored = co_await store_first_key(first_key);
      if (!stored) {
        put_back_credentials(former);
        co_return std::move(stored).error();
      }
    }
    catch_signals();
    print_ready(url, workspace, owner ? "" : first_key);
    log_.info("listening", {{"url", url}, {"data", options_.data}});
    co_return Result<void>();
  }

  // Before this, a signal ends the process at once, even if the store does not answer. Signals that
  // come before run() waits for them are kept for it.
  void catch_signals() {
    boost::system::error_code ignored;
    signals_.add(SIGINT, ignored);
    signals_.add(SIGTERM, ignored);
  }

  static std::string environment_key() {
    const char* fixed = std::getenv("ERRAND_API_KEY");
    return fixed ? fixed : "";
  }

  // A first key that can be guessed would give a stranger all rights.
  static Result<std::string> choose_first_key() {
    std::string fixed = environment_key();
    if (fixed.empty()) return engine::KeyRing::make_secret();
    bool is_word =
        std::all_of(fixed.begin(), fixed.end(), [](char c) { return c > ' ' && c < 127; });
    if (is_word && fixed.size() >= kFirstKeyBytesMin) return fixed;
    return Error(ErrorCode::invalid_argument,
                 cat("ERRAND_API_KEY would be the first key of this server, and is too weak: it "
                     "needs at least ",
                     kFirstKeyBytesMin,
                     " letters, digits and other visible characters; leave it unset to get a key"));
  }

  Result<void> adopt_keys() {
    for (const host::WorkspaceConfig& workspace : host_.config().workspaces) {
      for (const std::string& secret : workspace.api_keys) {
        auto adopted = host_.keys().adopt(workspace.slug, secret);
        if (!adopted) return Error(ErrorCode::invalid_argument, adopted.error().message());
      }
    }
    return {};
  }

  bool makes_rooms(const WorkspaceSlug& slug) const {
    for (const host::WorkspaceConfig& workspace : host_.config().workspaces) {
      if (workspace.slug == slug) return workspace.rooms_on_join;
    }
    return true;
  }

  // Creates the rooms that the configuration names.
  Task<Result<void>> make_rooms() {
    for (const host::WorkspaceConfig& workspace : host_.config().workspaces) {
      for (const std::string& name : workspace.rooms) {
        auto made = co_await rooms_.ensure_room(workspace.slug, name);
        if (made) continue;
        co_return Error(made.error().code(),
                        cat("cannot make the room ", name, ": ", made.error().describe()));
      }
    }
    co_return Result<void>();
  }

  // The credentials file is written before the key is stored: otherwise the only key could be one
  // that nobody knows.
  Task<Result<void>> store_first_key(std::string secret) {
    auto made = co_await host_.keys().create(*WorkspaceSlug::parse("default"),
                                             {.name = "first key"}, std::move(secret));
    if (!made) co_return made.error();
    co_return Result<void>();
  }

  // The file before this start; empty if there was none, or none that can be read.
  std::optional<std::string> former_credentials() const {
    auto text = read_whole_file(sdk::credentials_file(options_.data), kCredentialsBytesMax);
    if (!text) return {};
    return std::move(*text);
  }

  // A failed start leaves the file as it was before.
  void put_back_credentials(const std::optional<std::string>& former) {
    const fs::path file = sdk::credentials_file(options_.data);
    if (!former) {
      std::error_code ignored;
      fs::remove(file, ignored);
      return;
    }
    auto written = write_whole_file(file, *former);
    if (!written) log_.error(written.error().message());
  }

  // Without a new key, the file keeps the key that it has.
  Result<void> keep_credentials(sdk::Credentials credentials) {
    fs::path file = sdk::credentials_file(options_.data);
    if (credentials.key.empty()) {
      auto former = sdk::read_credentials(file);
      if (!former) {
        warn_of_credentials(former.error());
        return {};
      }
      former->url = std::move(credentials.url);
      credentials = std::move(*former);
    }
    return sdk::write_credentials(file, credentials);
  }

  void warn_of_credentials(const Error& error) {
    bool is_known = host_.keys().find(environment_key()).has_value();
    if (is_known) return;
    log_.warning(cat(error.message(), "; commands on this machine cannot use the server"),
                 {{"next", cat("stop the server, and make a key with 'errand keys create --data ",
                               options_.data, "'")}});
  }

  // A program that started the server reads a line of JSON; a person reads what to do next.
  static void print_ready(const std::string& url, const std::string& workspace,
                          const std::string& first_key) {
    if (::isatty(STDOUT_FILENO) == 1) {
      std::string text = cat("Errand ", version(), " serves ", url, " until Ctrl-C.\n");
      if (!first_key.empty()) append(text, "The first API key, shown this once: ", first_key, "\n");
      append(text, "In another terminal, in this folder: errand run \"Hello\"\n");
      [[maybe_unused]] auto shown = write_fully(STDOUT_FILENO, text);
      return;
    }
    std::string line;
    json::ObjectWriter out(line);
    out.field("event", "ready").field("url", url).field("workspace", workspace);
    if (!first_key.empty()) out.field("apiKey", first_key);
    out.end();
    line += '\n';
    [[maybe_unused]] auto written = ::write(STDOUT_FILENO, line.data(), line.size());
  }

  // The times when keys were used are collected and stored a little later.
  void plan_key_uses() {
    uses_timer_ = host_.timers().set(host_.timers().now() + kKeyUsesEvery,
                                     [this] { tasks_.spawn("serve.key_uses", store_key_uses()); });
  }

  Task<void> store_key_uses() {
    auto stored = co_await host_.keys().store_uses();
    if (!stored) {
      log_.warning("cannot store when keys were used", {{"error", stored.error().describe()}});
    }
    if (!host_.engine().is_draining()) plan_key_uses();
  }

  server::ConnectedTally connected() const {
    const auto rooms = rooms_.counts();
    const auto mcp = mcp_.counts();
    return {.rooms = rooms.rooms,
            .participants = rooms.participants,
            .mcp_sessions = mcp.sessions,
            .mcp_requests = mcp.requests};
  }

  Task<void> shut_down() {
    log_.info("draining", {{"atMostMs", std::to_string(options_.drain.count())}});
    host_.engine().drain();
    SteadyTime deadline = host_.timers().now() + options_.drain;
    bool hurried = false;
    signals_.async_wait([&hurried](boost::system::error_code error, int) { hurried = !error; });
    while (host_.engine().is_busy() && !hurried && host_.timers().now() + kLastAnswers < deadline) {
      co_await host_.timers().sleep_until(host_.timers().now() + kDrainPoll);
    }
    signals_.cancel();
    co_await http_.stop(std::min(deadline, host_.timers().now() + kLastAnswers));
    co_await mcp_.stop();
    host_.timers().cancel(uses_timer_);
    co_await store_key_uses();
    co_await host_.stop();  // runs leave the rooms here
    co_await rooms_.stop();
    log_.info("stopped");
  }

  const ServeOptions& options_;
  Log& log_;
  HeldLog& store_log_;
  net::BoundAddress address_;
  host::Host host_;
  server::RoomDoor rooms_;
  LoopWatch loop_;
  server::Api api_;
  server::McpApi mcp_;
  server::A2aApi a2a_;
  net::Router router_;
  net::HttpServer http_;
  asio::signal_set signals_;
  Timers::Id uses_timer_ = {};
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

Result<void> check_public_url(const std::string& url) {
  if (url.empty()) return {};
  auto parsed = net::parse_url(url);
  if (parsed) return {};
  return Error(ErrorCode::invalid_argument,
               cat("--public-url ", url, ": ", parsed.error().message(),
                   "; expected a URL such as https://errand.example.com"));
}

// The address is checked first: if its port is busy, neither the data directory nor the store is
// touched.
Result<Prepared> prepare(const ServeOptions& options, BlockingPool& pool, const Clock& clock,
                         Log& log) {
  ERRAND_CHECK(check_exposure(options));
  ERRAND_CHECK(check_public_url(options.public_url));
  ERRAND_TRY(host::Config config, host::load_config(options.config));
  host::bound_by_descriptors(config, host::raise_descriptor_limit());
  ERRAND_TRY(auto listen, parse_listen(options.listen));
  ERRAND_TRY(auto address, net::BoundAddress::bind(listen.host, listen.port));
  ERRAND_TRY(auto store,
             host::open_store({.data = options.data, .store = options.store}, clock, pool, log));
  return Prepared{
      .config = std::move(config), .address = std::move(address), .store = std::move(store)};
}

// Whether a person reads both what is printed and the log.
bool is_for_people() {
  return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

void tell_failed_start(const Error& error, Log& log) {
  if (is_for_people()) {
    [[maybe_unused]] auto written = write_fully(STDERR_FILENO, describe_for_people(error));
  } else {
    log.error(error.hint().empty() ? error.message() : cat(error.message(), ". ", error.hint()));
  }
}

}  // namespace

int serve(const ServeOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  sqlite::count_no_memory();
  SystemClock clock;
  // For people, log lines below warnings would only get between the printed lines.
  const LogLevel least_here = is_for_people() ? LogLevel::warning : LogLevel::info;
  const LogLevel least = options.log_level.value_or(least_here);
  Log log(clock, STDERR_FILENO, options.log_format, least);
  HeldLog store_log(clock, options.log_format, least);
  BlockingPool pool(host::kBlockingThreads, host::kBlockingQueueMax);
  auto prepared = prepare(options, pool, clock, store_log.log());
  if (!prepared) {
    tell_failed_start(prepared.error(), log);
    return prepared.error().code() == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
  }
  asio::io_context io(1);
  Server server(options, std::move(*prepared), io, clock, log, store_log);
  server.start();
  server.drive(io);
  return server.exit_code();
}

}  // namespace errand::cli
