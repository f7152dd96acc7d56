#include "cli/commands/data_server.hpp"

#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/listen_address.hpp"
#include "cli/terminal/report.hpp"
#include "host/host.hpp"
#include "net/server/http_server.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "store/memory/memory_store.hpp"

namespace errand::cli {
namespace {

struct Opened {
  host::Config config;
  std::unique_ptr<Store> store;
  std::string data = {};  // empty: in memory
  WorkspaceSlug workspace;
};

// The API over a store, until it is stopped. Lives on the thread that runs `io`.
class DataServer final {
 public:
  DataServer(Opened opened, asio::io_context& io, const Clock& clock, Log& log)
      : workspace_(opened.workspace),
        host_({.io = io, .clock = clock, .log = log, .data = opened.data}, std::move(opened.config),
              std::move(opened.store)),
        api_(host_.engine(), host_.keys(), {}),
        router_(server::render_error),
        http_(
            host_.home(),
            {.handler = [this](net::Request request) { return router_.handle(std::move(request)); },
             .render_error = server::render_error,
             .limits = {},
             .admit =
                 [this](const net::Request& head) {
                   return router_.admit(head, server::Api::open_terms());
                 }},
            log),
        tasks_(host_.home().executor(), sdk::report_bug) {
    api_.add_routes(router_);
  }

  void start(std::promise<Result<sdk::Credentials>>* ready) {
    tasks_.spawn("data server", run(ready));
  }
  // From any thread, once start() has made its promise true with credentials.
  void stop() {
    asio::post(host_.home().executor(), [this] { stop_.notify(); });
  }

 private:
  Task<void> run(std::promise<Result<sdk::Credentials>>* ready) {
    auto begun = co_await begin();
    const bool is_begun = static_cast<bool>(begun);
    ready->set_value(std::move(begun));
    if (is_begun) co_await stop_.wait();
    co_await http_.stop(host_.timers().now());
    co_await host_.stop();
  }

  Task<Result<sdk::Credentials>> begin() {
    ERRAND_CO_CHECK(co_await host_.keys().load());
    ERRAND_CO_CHECK(co_await api_.load());
    std::string key = engine::KeyRing::make_secret();
    ERRAND_CO_CHECK(host_.keys().adopt(workspace_, key));
    ERRAND_CO_TRY(auto bound, http_.listen("127.0.0.1", 0));
    co_return sdk::Credentials{.url = http_url(bound.host, bound.port),
                               .workspace = workspace_.str(),
                               .key = std::move(key),
                               .key_source = std::string(kKeyOfThisProcess)};
  }

  const WorkspaceSlug workspace_;
  host::Host host_;
  server::Api api_;
  net::Router router_;
  net::HttpServer http_;
  Wakeup stop_{host_.home().executor()};
  TaskGroup tasks_;  // last: tasks use everything above
};

// Serves on a thread of its own, because the work blocks this one.
int serve_while(Opened opened, const Clock& clock, Log& log,
                const std::function<int(const sdk::Credentials&)>& work) {
  std::promise<Result<sdk::Credentials>> ready;
  auto credentials = ready.get_future();
  DataServer* server = nullptr;
  std::thread thread([&] {
    asio::io_context io(1);
    DataServer one(std::move(opened), io, clock, log);
    server = &one;
    one.start(&ready);
    io.run();
  });
  auto found = credentials.get();
  int code = found ? work(*found) : fail(found.error());
  if (found) server->stop();
  thread.join();
  return code;
}

bool names_server(const sdk::ServerFlags& flags) {
  const char* server = std::getenv("ERRAND_SERVER");
  return !flags.server.empty() || !flags.key.empty() || (server && *server);
}

enum class Where { server, directory, memory };

Where where_of(const DataPlace& place) {
  if (names_server(place.server)) return Where::server;
  std::error_code ignored;
  std::filesystem::path data = sdk::data_directory(place.server);
  if (std::filesystem::exists(data / "errand.db", ignored)) return Where::directory;
  if (place.without == WithoutData::is_refused) return Where::server;
  auto server = sdk::find_server_here(place.server);
  bool is_known = server || server.error().code() != ErrorCode::not_found;
  return is_known ? Where::server : Where::memory;
}

Result<std::unique_ptr<Store>> open_place(const std::string& data, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  if (!data.empty()) return host::open_store({.data = data, .store = {}}, clock, pool, log);
  return std::unique_ptr<Store>(std::make_unique<MemoryStore>(make_memory_store_data(), clock));
}

Result<WorkspaceSlug> workspace_of(const sdk::ServerFlags& flags) {
  std::string slug = flags.workspace.empty() ? "default" : flags.workspace;
  if (auto parsed = WorkspaceSlug::parse(slug)) return *parsed;
  return Error(ErrorCode::invalid_argument, cat("--workspace ", slug, " is no slug"));
}

}  // namespace

int with_data(const DataPlace& place, const std::function<int(const sdk::Credentials&)>& work) {
  ignore_broken_pipes();
  const Where where = where_of(place);
  if (where == Where::server) return with_server(place.server, work);
  SystemClock clock;
  Log log(clock, STDERR_FILENO, LogFormat::text, LogLevel::warning);
  BlockingPool pool(host::kBlockingThreads, host::kBlockingQueueMax);
  const std::string data = where == Where::memory ? "" : sdk::data_directory(place.server).string();
  auto store = open_place(data, clock, pool, log);
  // A server uses the directory, and answers for it.
  bool is_in_use = !store && store.error().code() == ErrorCode::conflict;
  if (is_in_use) return with_server(place.server, work);
  if (!store) return fail(store.error());
  auto workspace = workspace_of(place.server);
  if (!workspace) return fail_usage(workspace.error());
  auto config = host::load_config(place.config);
  if (!config) return fail_usage(config.error());
  return serve_while({.config = std::move(*config),
                      .store = std::move(*store),
                      .data = data,
                      .workspace = *workspace},
                     clock, log, work);
}

int ask_data_and_show(const DataPlace& place, Form form, sdk::ApiRequest request,
                      const std::function<std::string(const json::Value&)>& text) {
  return with_data(place, [&](const sdk::Credentials& server) {
    return show_answer(server, form, std::move(request), text);
  });
}

}  // namespace errand::cli
