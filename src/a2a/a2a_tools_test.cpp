// What the calls of an agent's tool do over HTTP, and what they note.
#include "a2a/a2a_tools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "json/member_text.hpp"
#include "json/write.hpp"
#include "net/server/test_support.hpp"
#include "support/run_task.hpp"

namespace errand::a2a {
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

// An agent on a thread of its own, without streams, and a call of its tool.
class AgentToolTest : public testing::Test {
 protected:
  AgentToolTest() : web_([this](net::Request request) { return answer(std::move(request)); }) {}

  ToolOutcome call(TestNotes* notes, Principal who = {}) {
    TaskGroup cancelling(io_.get_executor(), [](const char*, const std::string&) {});
    ToolPtr tool = make_agent_tool(client(), agent_decl("helper", "Helps.", {}), cancelling);
    ToolContext context{.who = std::move(who), .notes = notes};
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
        ClientDeps{.http = http_, .timers = timers_},
        AgentAddress{.card_url = cat("http://127.0.0.1:", web_.port(), "/card")});
  }

  ::errand::Task<net::Response> answer(net::Request request) {
    std::lock_guard lock(mutex_);
    if (request.method == net::Method::get) {
      co_return net::Response{.body = cat(R"({"name":"a","description":"d","version":"1",)",
                                          R"("capabilities":{"streaming":false},"skills":[],)",
                                          R"("url":"http://127.0.0.1:)", web_.port(),
                                          R"(/rpc","protocolVersion":"0.3.0"})")};
    }
    std::string_view method = json::member_text(request.body, "method");
    seen_.emplace_back(method.substr(1, method.size() - 2));
    if (seen_.back() == "message/send") traceparent_ = request.header("traceparent");
    const std::string state = seen_.back() == "message/send" ? "working" : state_;
    co_return net::Response{
        .body = cat(R"({"jsonrpc":"2.0","id":)", json::member_text(request.body, "id"),
                    R"(,"result":{"kind":"task","id":"task-7","contextId":"c","status":{"state":")",
                    state, R"(","message":{"kind":"message","messageId":"m","role":"agent",)",
                    R"("parts":[{"kind":"text","text":"It is )", state, R"("}]}}}})")};
  }

  std::mutex mutex_;
  Lines seen_;
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

TEST_F(AgentToolTest, LeavesTheTaskOfACallThatGoesOnLater) {
  TestNotes notes;
  notes.is_resumed_later = true;
  set_state("working");
  cut_off(&notes);
  Lines methods = seen();
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "tasks/cancel"), 0);
}

}  // namespace
}  // namespace errand::a2a
