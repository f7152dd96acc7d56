// What the calls of an agent's tool do over HTTP, and what they note.
#include "a2a/a2a_tools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "json/member_text.hpp"
#include "json/write.hpp"
#include "net/server/test_support.hpp"
#include "net/url.hpp"
#include "support/kept_span_notes.hpp"
#include "support/run_task.hpp"

namespace errand::a2a::a2a_tools_test {
namespace {

using Lines = std::vector<std::string>;

// Keeps notes as a run does, and says what becomes of a call that is cut off.
class TestNotes final : public CallNotes {
 public:
  const std::optional<json::Object>& last() const override { return before; }
  ::errand::Task<Result<void>> keep(json::Object note) override {
    if (!is_kept) co_return Error(ErrorCode::unavailable, "no store");
    kept.push_back(json::write(json::Value(std::move(note))));
    co_return Result<void>();
  }
  bool goes_on_later() const override { return is_resumed_later; }

  std::optional<json::Object> before;
  Lines kept;
  bool is_kept = true;
  bool is_resumed_later = false;
};

// A task whose artifact grows by a megabyte with each event, up to `left` of them.
class GrowingFeed final : public net::EventFeed {
 public:
  explicit GrowingFeed(int left) : left_(left) {}
  ::errand::Task<Chunk> read(SteadyTime) override {
    if (left_-- == 0) {
      co_return Chunk{.state = State::ended,
                      .frames = frame(R"("kind":"status-update","taskId":"task-7",)"
                                      R"("contextId":"c","status":{"state":"completed"})")};
    }
    co_return Chunk{.state = State::more,
                    .frames = frame(cat(
                        R"("kind":"artifact-update","taskId":"task-7","contextId":"c",)",
                        R"("append":true,"artifact":{"artifactId":"a","parts":[{"kind":"text",)",
                        R"("text":")", std::string(1024 * 1024, 'x'), R"("}]})"))};
  }
  void interrupt() override {}

 private:
  static std::string frame(std::string_view result) {
    return cat(R"(data: {"jsonrpc":"2.0","id":1,"result":{)", result, "}}\n\n");
  }
  int left_;
};

// An agent on a thread of its own, without streams unless a test wants one, and a call of its tool.
class AgentToolTest : public testing::Test {
 protected:
  AgentToolTest() : web_([this](net::Request request) { return answer(std::move(request)); }) {}

  ToolOutcome call(TestNotes* notes, Principal who = {}, SpanNotes* span = nullptr) {
    TaskGroup cancelling(io_.get_executor(), [](const char*, const std::string&) {});
    ToolPtr tool = make_agent_tool(client(), agent_decl("helper", "Helps.", {}), cancelling);
    ToolContext context{.who = std::move(who), .notes = notes, .span = span};
    ToolOutcome outcome = run_task(io_, tool->invoke(the_call(), context));
    run_until(io_, [&] { return cancelling.size() == 0; });
    return outcome;
  }

  // The call is cut off as soon as the agent's task is noted.
  void cut_off(TestNotes* notes) {
    TaskGroup cancelling(io_.get_executor(), [](const char*, const std::string&) {});
    TaskGroup calls(io_.get_executor(), [](const char*, const std::string&) {});
    ToolPtr tool = make_agent_tool(client(), agent_decl("helper", "Helps.", {}), cancelling);
    calls.spawn("call", drop(tool->invoke(the_call(), {.who = {}, .notes = notes})));
    run_until(io_, [&] { return notes->kept.size() == 2; });
    calls.cancel(CancelReason::shutdown);
    run_until(io_, [&] { return calls.size() == 0 && cancelling.size() == 0; });
  }

  // The agent does not answer requests of this method.
  void hang_on(std::string method) {
    std::lock_guard lock(mutex_);
    hanging_ = std::move(method);
  }
  // Messages are answered with a stream of so many events.
  void stream_megabytes(int count) {
    std::lock_guard lock(mutex_);
    megabytes_ = count;
  }
  void set_answer_time(milliseconds time) { answer_time_ = time; }

  // The same in a run whose tools are stopped at once.
  void cut_off_and_stop(TestNotes* notes) {
    auto on_bug = [](const char*, const std::string&) {};
    A2aTools tools(
        {.home = io_.get_executor(), .http = http_, .timers = timers_, .on_bug = on_bug});
    TaskGroup calls(io_.get_executor(), on_bug);
    ToolPtr tool = tools.open(agent_decl("helper", "Helps.", {}),
                              RemoteAgent{.name = "helper", .card_url = card_url()}, {});
    calls.spawn("call", drop(tool->invoke(the_call(), {.who = {}, .notes = notes})));
    run_until(io_, [&] { return notes->kept.size() == 2; });
    run_task(io_, calls.stop(CancelReason::user_stop));
    run_task(io_, tools.stop());
  }

  std::string card_url() { return cat("http://127.0.0.1:", web_.port(), "/card"); }
  // The methods that were called, in order.
  Lines seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  // The header `traceparent` of the message; empty if it had none.
  std::string traceparent() {
    std::lock_guard lock(mutex_);
    return traceparent_;
  }
  // The card is at this path alone.
  void serve_card_at(std::string path) {
    std::lock_guard lock(mutex_);
    card_path_ = std::move(path);
  }
  // The agent, by the address of its server.
  std::shared_ptr<Client> client_at_origin(std::vector<net::Header> headers = {}) {
    return std::make_shared<Client>(ClientDeps{.http = http_, .timers = timers_},
                                    AgentAddress{.card_url = cat("http://localhost:", web_.port()),
                                                 .headers = std::move(headers)});
  }
  Result<AgentCard> card_of(std::shared_ptr<Client> client) {
    return run_task(io_, client->card());
  }
  void set_state(std::string state) {
    std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }

 private:
  static ToolCall the_call() {
    return {.run = *RunId::parse("run_1"),
            .id = *ToolUseId::parse("tu_1"),
            .arguments = {{"message", "Do it."}}};
  }
  static ::errand::Task<void> drop(::errand::Task<ToolOutcome> task) { co_await std::move(task); }

  std::shared_ptr<Client> client() {
    return std::make_shared<Client>(
        ClientDeps{.http = http_, .timers = timers_, .answer_time = answer_time_},
        AgentAddress{.card_url = card_url()});
  }

  ::errand::Task<net::Response> answer(net::Request request) {
    if (is_hanging(request)) {
      SteadyTimer never(co_await asio::this_coro::executor, SteadyTime::max());
      co_await never.async_wait(as_result);
    }
    std::lock_guard lock(mutex_);
    if (request.method == net::Method::get) {
      if (!card_path_.empty() && request.path != card_path_) co_return net::Response{.status = 404};
      co_return net::Response{.body = cat(R"({"name":"a","description":"d","version":"1",)",
                                          R"("capabilities":{"streaming":)",
                                          megabytes_ > 0 ? "true" : "false", R"(},"skills":[],)",
                                          R"("url":"http://127.0.0.1:)", web_.port(),
                                          R"(/rpc","protocolVersion":"0.3.0"})")};
    }
    std::string_view method = json::member_text(request.body, "method");
    seen_.emplace_back(method.substr(1, method.size() - 2));
    if (seen_.back() == "message/stream") {
      net::Response response;
      response.content_type = "text/event-stream";
      response.events = std::make_unique<GrowingFeed>(megabytes_);
      co_return response;
    }
    if (seen_.back() == "message/send") traceparent_ = request.header("traceparent");
    const std::string state = seen_.back() == "message/send" ? "working" : state_;
    co_return net::Response{
        .body = cat(R"({"jsonrpc":"2.0","id":)", json::member_text(request.body, "id"),
                    R"(,"result":{"kind":"task","id":"task-7","contextId":"c","status":{"state":")",
                    state, R"(","message":{"kind":"message","messageId":"m","role":"agent",)",
                    R"("parts":[{"kind":"text","text":"It is )", state, R"("}]}}}})")};
  }

  bool is_hanging(const net::Request& request) {
    std::lock_guard lock(mutex_);
    return !hanging_.empty() && request.body.find(cat('"', hanging_, '"')) != std::string::npos;
  }

  std::mutex mutex_;
  std::string hanging_;
  int megabytes_ = 0;
  milliseconds answer_time_ = seconds(30);
  Lines seen_;
  std::string card_path_;  // empty: any
  std::string state_ = "completed";
  std::string traceparent_;
  asio::io_context io_{1};
  Home home_{io_};
  AsioTimers timers_{home_};
  net::HttpClient http_{net::ClientOptions{}};
  net::test::TestServer web_;
};

TEST_F(AgentToolTest, NotesTheMessageBeforeItIsSentAndThenItsTask) {
  TestNotes notes;
  EXPECT_EQ(text_of(call(&notes)), "It is completed");
  EXPECT_EQ(notes.kept, (Lines{R"({"messageId":"run_1-tu_1"})", R"({"taskId":"task-7"})"}));
  EXPECT_EQ(seen(), (Lines{"message/send", "tasks/get"}));
}

TEST_F(AgentToolTest, TellsTheAgentItsPlaceInTheTrace) {
  constexpr std::string_view kPlace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  TestNotes notes;
  EXPECT_TRUE(call(&notes).ok());
  EXPECT_EQ(traceparent(), "");
  Principal who;
  who.trace = parse_traceparent(kPlace);
  EXPECT_TRUE(call(&notes, who).ok());
  EXPECT_EQ(traceparent(), kPlace);
}

TEST_F(AgentToolTest, TellsTheSpanOfTheCallWhichTaskItIs) {
  TestNotes notes;
  KeptSpanNotes span;
  EXPECT_TRUE(call(&notes, {}, &span).ok());
  const auto url = net::parse_url(card_url()).value();
  const std::map<std::string, std::string> wanted{{"a2a.method.name", "message/send"},
                                                  {"a2a.protocol.version", "0.3"},
                                                  {"a2a.task.id", "task-7"},
                                                  {"a2a.task.state", "completed"},
                                                  {"gen_ai.conversation.id", "c"},
                                                  {"server.address", url.host},
                                                  {"server.port", std::to_string(url.port)}};
  EXPECT_EQ(span.notes, wanted);
}

TEST_F(AgentToolTest, FindsTheCardOfAnOlderAgent) {
  serve_card_at("/.well-known/agent.json");
  EXPECT_EQ(card_of(client_at_origin()).value().name, "a");
}

TEST_F(AgentToolTest, SendsHeadersToTheOriginOfTheCardAlone) {
  EXPECT_EQ(card_of(client_at_origin()).value().name, "a");
  auto card = card_of(client_at_origin({{"Authorization", "Bearer k"}}));
  EXPECT_EQ(card.error().reason(), "foreign_interface");
}

TEST_F(AgentToolTest, SendsNothingThatCannotBeNoted) {
  TestNotes notes;
  notes.is_kept = false;
  EXPECT_FALSE(call(&notes).ok());
  EXPECT_EQ(seen(), Lines());
}

TEST_F(AgentToolTest, AsksAboutTheTaskOfACallThatIsResumed) {
  TestNotes notes;
  notes.before = json::Object{{"taskId", "task-7"}};
  EXPECT_EQ(text_of(call(&notes)), "It is completed");
  EXPECT_EQ(seen(), Lines{"tasks/get"});
}

TEST_F(AgentToolTest, DoesNotSendAMessageAgainThatMayHaveArrived) {
  TestNotes notes;
  notes.before = json::Object{{"messageId", "run_1-tu_1"}};
  ToolOutcome outcome = call(&notes);
  EXPECT_FALSE(outcome.ok());
  EXPECT_NE(text_of(outcome).find("may or may not have taken the message"), std::string::npos);
  EXPECT_EQ(seen(), Lines());
}

TEST_F(AgentToolTest, CancelsTheTaskOfACallThatIsGivenUp) {
  TestNotes notes;
  set_state("working");
  cut_off(&notes);
  EXPECT_EQ(seen().back(), "tasks/cancel");
}

TEST_F(AgentToolTest, AnAgentThatHangsOverACancelIsLeft) {
  TestNotes notes;
  set_state("working");
  hang_on("tasks/cancel");
  set_answer_time(milliseconds(50));
  cut_off(&notes);
}

TEST_F(AgentToolTest, AnAgentIsToldOfACallThatIsGivenUpBeforeTheEnd) {
  TestNotes notes;
  set_state("working");
  cut_off_and_stop(&notes);
  EXPECT_EQ(seen().back(), "tasks/cancel");
}

TEST_F(AgentToolTest, AnAgentThatHangsDoesNotHoldUpTheEnd) {
  TestNotes notes;
  set_state("working");
  hang_on("tasks/cancel");
  cut_off_and_stop(&notes);
}

TEST_F(AgentToolTest, ATaskWhoseArtifactsGrowWithoutEndIsCancelled) {
  TestNotes notes;
  stream_megabytes(1000);
  EXPECT_NE(text_of(call(&notes)).find("have more than 33554432 bytes"), std::string::npos);
  EXPECT_EQ(seen(), (Lines{"message/stream", "tasks/cancel"}));
}

TEST_F(AgentToolTest, ATaskWithLargeArtifactsIsTakenWhole) {
  TestNotes notes;
  stream_megabytes(20);
  ToolOutcome outcome = call(&notes);
  EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.content.size(), 20U);
  EXPECT_EQ(seen(), Lines{"message/stream"});
}

TEST_F(AgentToolTest, LeavesTheTaskOfACallThatGoesOnLater) {
  TestNotes notes;
  notes.is_resumed_later = true;
  set_state("working");
  cut_off(&notes);
  Lines methods = seen();
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "tasks/cancel"), 0);
}

}  // namespace
}  // namespace errand::a2a::a2a_tools_test
