#include "rpc/peer.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "rpc/memory_connection.hpp"
#include "support/held_pool.hpp"
#include "support/run_task.hpp"

namespace errand::rpc::peer_test {
namespace {

using std::chrono::hours;

// Answers "echo" with its params, waits in "wait" until it is interrupted, and knows nothing else.
class TestHandler final : public Handler {
 public:
  explicit TestHandler(Executor home) : home_(std::move(home)) {}

  Task<Answer> handle(Request request, ServedRequest* served) override {
    ++handled;
    if (request.method == "echo") {
      served->report({.progress = 1, .total = 2, .message = "half"});
      co_return Answer(json::Value(std::move(request.params)));
    }
    if (request.method == "wait") {
      Wakeup bell(home_);
      Interrupt::Scope waiting(&served->interrupt(), [&bell] { bell.notify(); });
      co_await bell.wait();
      ++interrupted;
      co_return Answer(json::Value("too late"));
    }
    co_return Answer(RpcError{.code = code::kMethodNotFound, .message = request.method});
  }
  void notice(Notification notification) override {
    noticed.push_back(std::move(notification.method));
  }
  void ended(const Error& why) override { end = why.message(); }

  int handled = 0;
  int interrupted = 0;
  std::vector<std::string> noticed;
  std::string end;

 private:
  Executor home_;
};

class PeerTest : public testing::Test {
 protected:
  PeerTest() { start({}); }
  ~PeerTest() override {
    run_task(io_, peer_->stop());
    run_task(io_, calls_.stop(CancelReason::shutdown));
  }

  void start(PeerOptions options) {
    if (peer_) run_task(io_, peer_->stop());
    peer_.reset();
    auto [ours, theirs] = make_connection_pair(io_.get_executor());
    ours_ = std::move(ours);
    theirs_ = std::move(theirs);
    peer_ = std::make_unique<Peer>(
        io_.get_executor(), *ours_, handler_,
        [](const char*, const std::string& what) { ADD_FAILURE() << what; }, options);
    peer_->start();
  }

  // What the peer under test sends next.
  std::string sent() {
    auto received = run_task(io_, theirs_->receive());
    return received.value() ? std::get<std::string>(**received) : "(closed)";
  }
  void say(std::string text) { ASSERT_TRUE(theirs_->send({.text = std::move(text)})); }
  // Sends, and lets the peer act on it.
  void tell(std::string text) {
    say(std::move(text));
    run_ready(io_);
  }

  // Starts a call, whose outcome comes to `outcomes_`.
  void call(std::string method, CallOptions options = {}) {
    calls_.spawn("call", keep(std::move(method), std::move(options)));
    run_ready(io_);
  }
  Task<void> keep(std::string method, CallOptions options) {
    auto outcome = co_await peer_->call(std::move(method), {{"a", 1}}, std::move(options));
    outcomes_.push_back(shown(outcome));
  }
  static std::string shown(const Result<Answer>& outcome) {
    if (!outcome) return cat(to_string(outcome.error().code()), ": ", outcome.error().message());
    if (const auto* value = std::get_if<json::Value>(&*outcome)) return json::write(*value);
    const auto& error = std::get<RpcError>(*outcome);
    return cat("error ", error.code, " ", error.message);
  }
  std::string outcome() {
    run_until(io_, [this] { return !outcomes_.empty(); });
    std::string first = outcomes_.front();
    outcomes_.pop_front();
    return first;
  }

  asio::io_context io_{1};
  TestHandler handler_{io_.get_executor()};
  std::unique_ptr<Connection> ours_;
  std::unique_ptr<Connection> theirs_;
  std::unique_ptr<Peer> peer_;
  std::deque<std::string> outcomes_;
  TaskGroup calls_{io_.get_executor(),
                   [](const char*, const std::string& what) { ADD_FAILURE() << what; }};
};

TEST_F(PeerTest, ACallGetsTheAnswerWithItsId) {
  call("one");
  call("two");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":1,"method":"one","params":{"a":1}})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":2,"method":"two","params":{"a":1}})");
  say(R"({"jsonrpc":"2.0","id":2,"result":"second"})");
  EXPECT_EQ(outcome(), "\"second\"");
  say(R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}})");
  EXPECT_EQ(outcome(), "error -1 no");
  EXPECT_EQ(peer_->calls(), 0U);
}

TEST_F(PeerTest, ALongAnswerIsReadOnThePoolAndWhatComesAfterItWaits) {
  HeldPool pool;
  start({.pool = pool.get()});
  call("one");
  tell(cat(R"({"jsonrpc":"2.0","id":1,"result":")", std::string(kBytesInABreath, 'x'), R"("})"));
  tell(R"({"jsonrpc":"2.0","method":"notifications/news"})");
  EXPECT_EQ(outcomes_.size(), 0U);
  EXPECT_EQ(handler_.noticed, std::vector<std::string>());

  pool.finish();
  EXPECT_EQ(outcome().size(), kBytesInABreath + 2);
  run_ready(io_);
  EXPECT_EQ(handler_.noticed, std::vector<std::string>{"notifications/news"});
}

TEST_F(PeerTest, AnswersThatNobodyAskedForAreIgnored) {
  call("one");
  tell(R"({"jsonrpc":"2.0","id":99,"result":1})");
  tell(R"({"jsonrpc":"2.0","id":"1","result":1})");
  tell(R"({"jsonrpc":"2.0","result":1})");
  tell("Server started");
  say(R"({"jsonrpc":"2.0","id":1,"result":"mine"})");
  say(R"({"jsonrpc":"2.0","id":1,"result":"again"})");
  EXPECT_EQ(outcome(), "\"mine\"");
}

TEST_F(PeerTest, AnErrorWithoutAnIdIsForTheOnlyCall) {
  call("one");
  say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}})");
  EXPECT_EQ(outcome(), "error -32700 what?");
}

TEST_F(PeerTest, AnAnswerThatCannotBeUnderstoodFailsItsCall) {
  call("one");
  say(R"({"jsonrpc":"2.0","id":1,"error":7})");
  EXPECT_EQ(outcome(), "unsupported: the answer cannot be understood: its error has no code");
}

TEST_F(PeerTest, CallsInFlightAreBounded) {
  start({.calls_max = 1});
  call("one");
  call("two");
  EXPECT_EQ(outcome(), "rate_limited: too many requests wait for their answers");
}

TEST_F(PeerTest, ACallThatTakesTooLongIsCancelled) {
  call("one", {.silence_max = milliseconds(10)});
  EXPECT_EQ(outcome(), "timeout: no answer came in time");
  sent();
  EXPECT_EQ(sent(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  tell(R"({"jsonrpc":"2.0","id":1,"result":"late"})");
}

TEST_F(PeerTest, ACallMayBeInterrupted) {
  Interrupt interrupt;
  call("one", {.interrupt = &interrupt});
  interrupt.raise();
  EXPECT_EQ(outcome(), "cancelled: the request was cancelled");
  sent();
  EXPECT_EQ(sent(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  call("two", {.interrupt = &interrupt});
  EXPECT_EQ(outcome(), "cancelled: the request was cancelled");
}

TEST_F(PeerTest, ATaskThatIsCancelledTellsTheOtherSide) {
  call("one");
  sent();
  run_task(io_, calls_.stop(CancelReason::user_stop));
  EXPECT_EQ(sent(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(peer_->calls(), 0U);
}

TEST_F(PeerTest, ProgressIsRoutedToItsCallWhileItRises) {
  std::vector<Progress> seen;
  call("one", {.on_progress = [&](const Progress& progress) { seen.push_back(progress); }});
  EXPECT_EQ(
      sent(),
      R"({"jsonrpc":"2.0","id":1,"method":"one","params":{"a":1,"_meta":{"progressToken":1}}})");
  std::string start = R"({"jsonrpc":"2.0","method":"notifications/progress","params":)";
  tell(start + R"({"progressToken":1,"progress":1,"total":4,"message":"a"}})");
  tell(start + R"({"progressToken":1,"progress":1}})");
  tell(start + R"({"progressToken":2,"progress":2}})");
  tell(start + R"({"progressToken":1,"progress":2.5}})");
  say(R"({"jsonrpc":"2.0","id":1,"result":0})");
  EXPECT_EQ(outcome(), "0");
  EXPECT_EQ(seen, (std::vector<Progress>{{.progress = 1, .total = 4, .message = "a"},
                                         {.progress = 2.5}}));
}

TEST_F(PeerTest, ProgressCannotStretchTheTotalTime) {
  call("one", {.silence_max = hours(1), .total_max = milliseconds(10)});
  tell(R"({"jsonrpc":"2.0","method":"notifications/progress",)"
       R"("params":{"progressToken":1,"progress":1}})");
  EXPECT_EQ(outcome(), "timeout: no answer came in time");
}

TEST_F(PeerTest, TimeDuringWhichTheOtherSideWaitsForUsDoesNotCount) {
  int owner = 0;
  int other = 0;
  call("one", {.silence_max = milliseconds(10), .total_max = milliseconds(10), .owner = &owner});
  {
    Peer::Pause pause(*peer_, &owner);
    Peer::Pause again(*peer_, &owner);
    call("two", {.silence_max = milliseconds(20), .owner = &other});
    EXPECT_EQ(outcome(), "timeout: no answer came in time");
    EXPECT_EQ(outcomes_.size(), 0U);
    EXPECT_EQ(peer_->calls(), 1U);
  }
  EXPECT_EQ(outcome(), "timeout: no answer came in time");
}

TEST_F(PeerTest, TheEndOfTheConnectionLeavesTheOutcomeUnknown) {
  call("one");
  theirs_->close();
  EXPECT_EQ(outcome(), "outcome_unknown: no answer came: the connection is closed");
  EXPECT_EQ(handler_.end, "the connection is closed");
  call("two");
  EXPECT_EQ(outcome(), "unavailable: the connection is closed");
}

TEST_F(PeerTest, RequestsOfTheOtherSideAreAnswered) {
  say(R"({"jsonrpc":"2.0","id":"x","method":"echo","params":{"b":2}})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":"x","result":{"b":2}})");
  say(R"({"jsonrpc":"2.0","id":5,"method":"other"})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"other"}})");
}

TEST_F(PeerTest, ProgressIsReportedToThoseWhoAskForIt) {
  say(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"_meta":{"progressToken":"t"}}})");
  EXPECT_EQ(sent(),
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t",)"
            R"("progress":1.0,"total":2.0,"message":"half"}})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":1,"result":{"_meta":{"progressToken":"t"}}})");
}

TEST_F(PeerTest, ARequestThatIsCancelledIsNotAnswered) {
  tell(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  tell(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_EQ(handler_.interrupted, 1);
  say(R"({"jsonrpc":"2.0","id":2,"method":"echo"})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
}

TEST_F(PeerTest, ARequestThatIsCancelledAtOnceIsNeverHandled) {
  say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  say(R"({"jsonrpc":"2.0","id":2,"method":"echo"})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(handler_.handled, 1);
}

TEST_F(PeerTest, AnIdMayNotBeUsedTwiceAtOnce) {
  tell(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  say(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                    R"("message":"a request with this id is unanswered"}})");
}

TEST_F(PeerTest, RequestsOfTheOtherSideAreBounded) {
  start({.served_max = 1});
  tell(R"({"jsonrpc":"2.0","id":1,"method":"wait"})");
  say(R"({"jsonrpc":"2.0","id":2,"method":"wait"})");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":2,"error":{"code":-32000,)"
                    R"("message":"too many requests are unanswered"}})");
}

TEST_F(PeerTest, MalformedRequestsAreAnsweredAndTextThatIsNotJsonIsNot) {
  say("Server started");
  say("3");
  EXPECT_EQ(sent(), R"({"jsonrpc":"2.0","id":null,"error":{"code":-32600,)"
                    R"("message":"a message must be an object, not an integer"}})");
}

TEST_F(PeerTest, AServerAnswersTextThatIsNotJson) {
  start({.noise = PeerOptions::Noise::answered});
  say("{");
  EXPECT_NE(sent().find("-32700"), std::string::npos);
}

TEST_F(PeerTest, NotificationsReachTheHandler) {
  tell(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_EQ(handler_.noticed, std::vector<std::string>{"notifications/tools/list_changed"});
}

TEST_F(PeerTest, AFloodLeavesTheHomeToOthers) {
  for (int i = 0; i < 1000; ++i) say(R"({"jsonrpc":"2.0","method":"n"})");
  io_.restart();
  std::size_t at_turn = 0;
  asio::post(io_, [&] { asio::post(io_, [&] { at_turn = handler_.noticed.size(); }); });
  run_until(io_, [this] { return handler_.noticed.size() == 1000; });
  EXPECT_LT(at_turn, 200U);
}

// A connection whose answers are too large.
class CutConnection final : public Connection {
 public:
  CutConnection(Executor home, std::vector<Received> items) : bell_(std::move(home)) {
    items_.assign(items.begin(), items.end());
  }
  Result<void> send(Outgoing) override {
    bell_.notify();
    return {};
  }
  Task<Result<std::optional<Received>>> receive() override {
    co_await bell_.wait();
    if (items_.empty() || is_closed_) co_return std::optional<Received>();
    Received item = std::move(items_.front());
    items_.pop_front();
    co_return std::optional<Received>(std::move(item));
  }
  void settled(const Id& id) override { settled_ids.push_back(to_string(id)); }
  void close() override {
    is_closed_ = true;
    bell_.notify();
  }
  Task<void> join() override { co_return; }

  std::vector<std::string> settled_ids;

 private:
  std::deque<Received> items_;
  Wakeup bell_;
  bool is_closed_ = false;
};

Result<Answer> call_over(asio::io_context& io, CutConnection& connection) {
  TestHandler handler(io.get_executor());
  Peer peer(io.get_executor(), connection, handler,
            [](const char*, const std::string& what) { ADD_FAILURE() << what; });
  peer.start();
  auto outcome = run_task(io, peer.call("m", {}));
  run_task(io, peer.stop());
  return outcome;
}

TEST(PeerTransport, AnAnswerThatIsTooLargeFailsItsCall) {
  asio::io_context io(1);
  Oversized large{.head = R"({"result":{)", .tail = R"(},"jsonrpc":"2.0","id":1})", .bytes = 100};
  CutConnection connection(io.get_executor(), {large});
  EXPECT_EQ(call_over(io, connection).error().describe(), "the answer is too large: 100 bytes");
  EXPECT_EQ(connection.settled_ids, std::vector<std::string>{"1"});
}

// Tells whose call each request of the other side came about from.
class OwnerHandler final : public Handler {
 public:
  Task<Answer> handle(Request request, ServedRequest* served) override {
    seen.emplace_back(request.method, served->owner());
    co_return Answer(json::Value());
  }
  std::vector<std::pair<std::string, const void*>> seen;
};

TEST(PeerTransport, ARequestThatCameWithAnAnswerIsOfItsCall) {
  asio::io_context io(1);
  CutConnection connection(
      io.get_executor(),
      {Beside{.request = 1, .text = R"({"jsonrpc":"2.0","id":"a","method":"with"})"},
       R"({"jsonrpc":"2.0","id":"b","method":"without"})",
       Beside{.request = 7, .text = R"({"jsonrpc":"2.0","id":"c","method":"of nobody"})"},
       Beside{.request = 1, .text = R"({"jsonrpc":"2.0","id":1,"result":0})"}});
  OwnerHandler handler;
  Peer peer(io.get_executor(), connection, handler,
            [](const char*, const std::string& what) { ADD_FAILURE() << what; });
  peer.start();
  int owner = 0;
  CallOptions options{.owner = &owner};
  EXPECT_TRUE(run_task(io, peer.call("m", {}, options)));
  run_ready(io);
  using Seen = std::vector<std::pair<std::string, const void*>>;
  EXPECT_EQ(handler.seen, (Seen{{"with", &owner}, {"without", nullptr}, {"of nobody", nullptr}}));
  run_task(io, peer.stop());
}

TEST(PeerTransport, AnAnswerWithTooManyValuesFailsItsCall) {
  asio::io_context io(1);
  json::Array many(json::kStrangersValuesMax, json::Value(0));
  CutConnection connection(io.get_executor(),
                           {write(Response{.id = 1, .answer = json::Value(many)})});
  EXPECT_EQ(call_over(io, connection).error().describe(),
            "the answer is too large: the JSON has more than 250000 values");
  EXPECT_EQ(connection.settled_ids, std::vector<std::string>{"1"});
}

TEST(PeerTransport, AnAnswerThatTheTransportHasLostFailsItsCall) {
  asio::io_context io(1);
  CutConnection connection(io.get_executor(), {Lost{.id = 1, .error = {ErrorCode::timeout, "x"}}});
  EXPECT_EQ(call_over(io, connection).error().code(), ErrorCode::timeout);
}

}  // namespace
}  // namespace errand::rpc::peer_test
