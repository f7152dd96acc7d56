// Answers that are long are written on the pool, so that nobody on the home waits for them.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "async/breath.hpp"
#include "engine/flows/test_world.hpp"
#include "net/server/router.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "support/held_pool.hpp"

namespace errand::server::long_answers_test {
namespace {

using engine::testing::Disk;
using engine::testing::someone;
using engine::testing::World;

constexpr std::size_t kHalf = kBytesInABreath / 2 + 1;

// A process that serves what a former one left.
class Served final {
 public:
  Served(Disk& disk, HeldPool& pool)
      : disk_(disk),
        world(disk, R"({"turns":[{"text":["ok"]}]})", {}, {}, {}, "scripted", pool.get()) {
    auto made = world.result_of(keys_.create(someone().workspace, {.name = "test"}, key_));
    EXPECT_TRUE(made);
    api_.add_routes(router_);
  }
  ~Served() { world.tasks.cancel(CancelReason::shutdown); }

  void get(const std::string& path) {
    net::Request request{.method = net::Method::get,
                         .path = cat("/api/v1/workspaces/default", path)};
    request.headers.push_back({"authorization", cat("Bearer ", key_)});
    world.tasks.spawn("request", keep(router_.handle(std::move(request)), &answer));
    world.settle();
  }

 private:
  static Task<void> keep(Task<net::Response> from, std::optional<net::Response>* out) {
    *out = co_await std::move(from);
  }

  Disk& disk_;

 public:
  World world;
  std::optional<net::Response> answer;

 private:
  IdSource ids_{disk_.clock, [this] { return ++disk_.random; }};
  const std::string key_ = engine::KeyRing::make_secret();
  engine::KeyRing keys_{world.store, disk_.clock, ids_};
  Api api_{world.engine, keys_, {}};
  net::Router router_{render_error};
};

struct LongAnswersTest : testing::Test {
  Disk disk;

  // An ended run whose question and answer have so many bytes each.
  RunId ended_run(std::size_t bytes) {
    World world(disk, cat(R"({"turns":[{"text":[")", std::string(bytes, 'x'), R"("]}]})"));
    Spec spec;
    spec.prompt = std::string(bytes, 'x');
    RunId run = world.result_of(world.engine.create(someone(), std::move(spec), {})).value();
    world.pass(milliseconds(1000));
    return run;
  }
};

TEST_F(LongAnswersTest, ALongRunIsShownFromThePool) {
  const RunId run = ended_run(kHalf);
  HeldPool pool;
  Served served(disk, pool);
  served.get(cat("/agent-runs/", run.view()));
  EXPECT_FALSE(served.answer);

  pool.finish();
  served.world.settle();
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->status, 200);
  EXPECT_GT(served.answer->body.size(), 2 * kHalf);
}

TEST_F(LongAnswersTest, AShortRunIsShownAtOnce) {
  const RunId run = ended_run(10);
  HeldPool pool;
  Served served(disk, pool);
  served.get(cat("/agent-runs/", run.view()));
  ASSERT_TRUE(served.answer);
  EXPECT_EQ(served.answer->status, 200);
}

}  // namespace
}  // namespace errand::server::long_answers_test
