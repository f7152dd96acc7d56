// Sends its input to the API in this process, over a store in memory and on time that stands still:
// requests are separated by a byte 0x1e, and each is a line "METHOD PATH", headers, an empty line
// and a body. $ws, $run, $session and $call stand for what the last answers named. Between them,
// "!before N" has the N-th operation of the store from there on fail, and "!after N" has its answer
// lost. No request may be answered with 500, and whatever is answered as JSON must be JSON. Built
// with -DERRAND_FUZZ=ON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "engine/flows/test_world.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "net/server/router.hpp"
#include "server/a2a/a2a_api.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "server/mcp/mcp_api.hpp"

namespace errand::server {
namespace {

using engine::testing::Disk;
using engine::testing::WithPool;
using engine::testing::World;

constexpr std::string_view kScript =
    R"({"turns":[{"text":["Look."],"toolCalls":[{"name":"look","args":{"a":1}}]},)"
    R"({"text":["Done."]}]})";
constexpr std::size_t kRequestsMax = 12;  // of one input
constexpr char kSeparator = '\x1e';
// How often the pool is waited for. A request needs it a few times, one after the other; a long
// poll does not come back however often.
constexpr int kPoolRounds = 4;
constexpr int kLastPoolRounds = 16;

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

std::optional<net::Method> parse_method(std::string_view word) {
  using enum net::Method;
  for (net::Method method : {get, post, put, delete_}) {
    if (to_string(method) == word) return method;
  }
  return {};
}

// One server, and what its answers have named so far.
class Server final {
 public:
  Server() {
    auto made = world_.result_of(keys_.create(*WorkspaceSlug::parse("default"), {.name = "fuzz"},
                                              engine::KeyRing::make_secret()));
    key_ = made.value().secret;
    api_.add_guests(mcp_.routes());
    api_.add_guests(a2a_.routes());
    api_.add_routes(router_);
  }
  ~Server() {
    world_.fault = nullptr;
    world_.tasks.cancel(CancelReason::shutdown);
    for (int i = 0; i < kLastPoolRounds; ++i) settle_with_pool();
    feeds_.clear();
    TaskGroup ending(world_.home.executor(), [](const char*, const std::string&) {});
    ending.spawn("mcp", mcp_.stop());
    world_.settle();
  }

  void send(std::string text) {
    if (text.starts_with('!')) return plan_fault(text);
    for (const auto& [name, value] : names_) replace_all(text, name, value);
    auto request = read_request(text);
    if (!request) return;
    auto answer = std::make_shared<std::optional<net::Response>>();
    world_.tasks.spawn("request", keep(router_.handle(std::move(*request)), answer));
    world_.settle();
    for (int i = 0; i < kPoolRounds && !*answer; ++i) settle_with_pool();
    ERRAND_ASSERT(world_.bugs.empty());
    // A long poll is still waiting.
    if (*answer) check(std::move(**answer));
  }

 private:
  using Fault = FaultyStore::Fault;

  void plan_fault(std::string_view text) {
    const Fault kind = text.starts_with("!before ") ? Fault::fail_before : Fault::fail_after;
    auto number = parse_integer<int>(text.substr(std::min(text.find(' ') + 1, text.size())));
    auto left = std::make_shared<int>(std::max(1, number.value_or(1)));
    world_.fault = [kind, left](FaultyStore::Operation op) {
      const bool is_read =
          op.kind == FaultyStore::Kind::read || op.kind == FaultyStore::Kind::read_blob;
      // Of a read, nobody has to find out whether it was done.
      if (*left == 0 || (is_read && kind == Fault::fail_after)) return Fault::none;
      return --*left == 0 ? kind : Fault::none;
    };
  }

  void settle_with_pool() {
    world_.pool->finish();
    world_.settle();
  }

  static Task<void> keep(Task<net::Response> from,
                         std::shared_ptr<std::optional<net::Response>> out) {
    *out = co_await std::move(from);
  }
  static Task<void> read_feed(net::EventFeed* feed) {
    for (;;) {
      auto chunk = co_await feed->read(SteadyTime::max());
      const bool is_over = chunk.state == net::EventFeed::State::ended ||
                           chunk.state == net::EventFeed::State::broken;
      if (is_over) co_return;
    }
  }

  std::optional<net::Request> read_request(std::string_view text) {
    std::string_view line = take_line(text);
    auto method = parse_method(line.substr(0, line.find(' ')));
    if (!method || line.find(' ') == std::string_view::npos) return {};
    std::string_view target = line.substr(line.find(' ') + 1);
    net::Request request{.method = *method, .id = "r"};
    request.path = target.substr(0, target.find('?'));
    if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
    request.headers.push_back({"authorization", cat("Bearer ", key_)});
    request.headers.push_back({"host", "localhost"});
    for (line = take_line(text); !line.empty(); line = take_line(text)) {
      std::string_view name = line.substr(0, line.find(':'));
      if (name.size() == line.size()) continue;
      request.headers.push_back(
          {std::string(name), std::string(trim(line.substr(name.size() + 1)))});
    }
    request.body = text;
    return request;
  }

  void check(net::Response answer) {
    ERRAND_ASSERT(answer.status >= 200 && answer.status < 600 && answer.status != 500);
    if (answer.events) {
      feeds_.push_back(std::move(answer.events));
      world_.tasks.spawn("feed", read_feed(feeds_.back().get()));
      world_.settle();
      return;
    }
    if (answer.body.empty() || !answer.content_type.starts_with("application/json")) return;
    auto value = json::parse(answer.body, {.depth_max = 2 * json::kDepthMax});
    ERRAND_ASSERT(value.has_value());
    const json::Object* body = value->if_object();
    if (answer.status >= 400 && body && body->contains("code")) {
      ERRAND_ASSERT(!json::text_at(body, "message").empty());
    }
    remember(answer.body);
  }

  void remember(std::string_view body) {
    constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
        {"$run", "\"runId\":\""}, {"$session", "\"sessionId\":\""}, {"$call", "\"toolUseId\":\""}};
    for (const auto& [name, member] : kNamed) {
      std::size_t at = body.find(member);
      if (at == std::string_view::npos) continue;
      std::string_view rest = body.substr(at + member.size());
      names_[name] = rest.substr(0, rest.find('"'));
    }
  }

  Disk disk_;
  World world_{disk_, kScript, {}, {}, {}, "scripted", WithPool::yes};
  Log log_{disk_.clock, 2, LogFormat::text, LogLevel::error};
  IdSource ids_{disk_.clock, [this] { return ++disk_.random; }};
  engine::KeyRing keys_{world_.store, disk_.clock, ids_};
  std::string key_;
  Api api_{world_.engine, keys_, {}};
  McpApi mcp_{{.engine = world_.engine,
               .tools = world_.sources,
               .home = world_.home.executor(),
               .log = log_},
              host_rules("http://localhost", net::HostRules::Others::refused)};
  A2aApi a2a_{{.engine = world_.engine,
               .base_url = [](const net::Request&) { return std::string("http://localhost"); }}};
  net::Router router_{render_error};
  std::map<std::string_view, std::string> names_{
      {"$ws", "default"}, {"$run", "run_none"}, {"$session", "sess_none"}, {"$call", "tu_none"}};
  std::vector<std::unique_ptr<net::EventFeed>> feeds_;
};

}  // namespace
}  // namespace errand::server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using errand::server::kSeparator;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  errand::server::Server server;
  for (std::size_t i = 0; i < errand::server::kRequestsMax && !input.empty(); ++i) {
    std::string_view one = input.substr(0, input.find(kSeparator));
    input.remove_prefix(std::min(one.size() + 1, input.size()));
    server.send(std::string(one));
  }
  return 0;
}
