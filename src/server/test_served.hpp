#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/flows/test_world.hpp"
#include "net/server/router.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"

namespace errand::server::test {

// A process whose routes a test calls, on a disk that a former one may have left something on.
class Served final {
 public:
  explicit Served(engine::testing::Disk& disk,
                  std::string_view script = R"({"turns":[{"text":["ok"]}]})",
                  engine::testing::WithPool with_pool = engine::testing::WithPool::no)
      : disk_(disk), world(disk, script, {}, {}, {}, "scripted", with_pool) {
    auto made =
        world.result_of(keys_.create(engine::testing::someone().workspace, {.name = "test"}, key_));
    EXPECT_TRUE(made);
    api_.add_routes(router_);
  }
  ~Served() { world.tasks.cancel(CancelReason::shutdown); }

  // With the key of the workspace.
  net::Request request(std::string path, std::string query = "") const {
    net::Request out{
        .method = net::Method::get, .path = std::move(path), .query = std::move(query)};
    out.headers.push_back({"authorization", cat("Bearer ", key_)});
    return out;
  }
  // The answer is there once the handler has given it.
  void send(net::Request request) {
    answer.reset();
    world.tasks.spawn("request", keep(router_.handle(std::move(request)), &answer));
    world.settle();
  }
  // A path in the workspace.
  void get(std::string_view path) { send(request(cat("/api/v1/workspaces/default", path))); }

 private:
  static Task<void> keep(Task<net::Response> from, std::optional<net::Response>* out) {
    *out = co_await std::move(from);
  }

  engine::testing::Disk& disk_;

 public:
  engine::testing::World world;
  std::optional<net::Response> answer;

 private:
  IdSource ids_{disk_.clock, [this] { return ++disk_.random; }};
  const std::string key_ = engine::KeyRing::make_secret();
  engine::KeyRing keys_{world.store, disk_.clock, ids_};
  Api api_{world.engine, keys_, {}};
  net::Router router_{render_error};
};

}  // namespace errand::server::test
