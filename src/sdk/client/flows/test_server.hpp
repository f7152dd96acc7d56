#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <errand/client.hpp>

#include "base/text.hpp"
#include "host/host.hpp"
#include "llm/script.hpp"
#include "net/server/http_server.hpp"
#include "sdk/bridge/pending.hpp"
#include "server/a2a/a2a_api.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "server/rooms/room_door.hpp"
#include "store/memory/memory_store.hpp"

namespace errand::sdk {

// A server with a scripted model, on a thread of its own.
class TestServer final {
 public:
  explicit TestServer(std::string_view turns) : turns_(turns) {
    std::promise<void> ready;
    thread_ = std::thread([this, &ready] { serve(ready); });
    ready.get_future().get();
  }
  ~TestServer() {
    asio::post(io_, [this] { stopping_->spawn("stop", stop()); });
    thread_.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  v1::ClientOptions options() const { return {.server = url_, .key = key_}; }

 private:
  static host::Config config(std::string_view turns) {
    host::Config config;
    config.models = {{.info = {.id = "s", .provider = "scripted", .vendor_model_id = "v"},
                      .label = "S",
                      .script = *llm::parse_script(turns)}};
    return config;
  }

  void serve(std::promise<void>& ready) {
    host::Host host({.io = io_, .clock = clock_, .log = log_}, config(turns_),
                    std::make_unique<MemoryStore>(make_memory_store_data(), clock_));
    server::RoomDoor rooms({.home = host.home(),
                            .timers = host.timers(),
                            .clock = clock_,
                            .store = host.engine().store(),
                            .records = host.engine().records(),
                            .log = log_},
                           {});
    host.rooms().open_gate(rooms);
    rooms_ = &rooms;
    server::Api routes(host.engine(), host.keys(), {.rooms = &rooms});
    net::Router router(server::render_error);
    server::A2aApi agents({.engine = host.engine(), .base_url = [&routes](const auto& request) {
                             return routes.base_url(request);
                           }});
    routes.add_guests(agents.routes());
    routes.add_routes(router);
    net::HttpServer server(
        host.home(),
        {.handler = [&router](net::Request request) { return router.handle(std::move(request)); },
         .render_error = server::render_error,
         .limits = {}},
        log_);
    TaskGroup stopping(host.home().executor(), [](const char*, const std::string&) {});
    host_ = &host;
    server_ = &server;
    stopping_ = &stopping;
    url_ = cat("http://127.0.0.1:", server.listen("127.0.0.1", 0)->port);
    stopping.spawn("start", start(&ready));
    io_.run();
  }

  Task<void> start(std::promise<void>* ready) {
    auto key = co_await host_->keys().create(*WorkspaceSlug::parse("default"), {}, "secret");
    key_ = key->secret;
    host_->engine().start();
    ready->set_value();
  }

  Task<void> stop() {
    co_await server_->stop(SteadyTime());
    co_await host_->stop();
    co_await rooms_->stop();
  }

  const std::string turns_;
  asio::io_context io_{1};
  SystemClock clock_;
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning};
  host::Host* host_ = nullptr;
  server::RoomDoor* rooms_ = nullptr;
  net::HttpServer* server_ = nullptr;
  TaskGroup* stopping_ = nullptr;
  std::string url_;
  std::string key_;
  std::thread thread_;
};

}  // namespace errand::sdk
