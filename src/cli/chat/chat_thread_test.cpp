#include "cli/chat/chat_thread.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/test_api.hpp"
#include "support/run_task.hpp"

namespace errand::cli::chat_thread_test {
namespace {

const RunId kRun = *RunId::parse("run_1");
const RunId kOther = *RunId::parse("run_2");
const SessionId kSession = *SessionId::parse("sess_1");
const SessionId kEnded = *SessionId::parse("sess_2");

// Knows one session, and one chat that is made of forks; tells what it was asked for.
class ChatApi final : public sdk::NoApi {
 public:
  Task<Result<SessionId>> create_session(engine::SessionParams params, std::string,
                                         sdk::BodyPtr) override {
    created = json::write(engine::to_json(params));
    co_return kSession;
  }
  Task<Result<RunId>> say(SessionId session, engine::SessionMessage message, std::string,
                          sdk::BodyPtr) override {
    json::Object overrides = to_json(ForkParams{.from_seq = {}, .overrides = message.overrides});
    said = cat(session.view(), " ", *message.said.prompt, " ", json::write(overrides));
    co_return kRun;
  }
  Task<Result<sdk::SessionInfo>> get_session(SessionId session) override {
    if (session != kSession) co_return Error(ErrorCode::not_found, "there is no such session");
    co_return sdk::SessionInfo{.id = session, .current = current};
  }
  Task<Result<std::vector<sdk::SaidMessage>>> history(SessionId, sdk::HistoryQuery query) override {
    std::vector<sdk::SaidMessage> wanted;
    for (const sdk::SaidMessage& message : messages) {
      if (message.seq > query.after) wanted.push_back(message);
    }
    co_return wanted;
  }
  Task<Result<sdk::RunPage>> list(sdk::RunQuery query) override {
    sdk::RunPage page;
    if (query.session) {
      page.runs = {{.id = kRun, .model_id = "fast", .session = kSession}};
      co_return page;
    }
    const auto& [key, value] = query.metadata.at(0);
    if (value == "chat") page.runs = {latest};
    if (value == "chat_9") page.runs = {{.id = kOther, .metadata = {{"errand.chat", "chat_9"}}}};
    co_return page;
  }
  Task<Result<sdk::SessionPage>> list_sessions(sdk::SessionQuery query) override {
    sdk::SessionPage page;
    if (query.status != SessionStatus::active) page.sessions.push_back({.id = kEnded});
    if (is_active) page.sessions.push_back({.id = kSession});
    co_return page;
  }
  Task<Result<sdk::RunInfo>> get(RunId run) override {
    co_return sdk::RunInfo{.id = run, .status = RunStatus::running};
  }

  sdk::RunInfo latest{.id = kRun, .session = kSession};
  bool is_active = true;
  std::optional<RunId> current;
  std::vector<sdk::SaidMessage> messages;
  std::string created;
  std::string said;
};

class ChatThreadTest : public testing::Test {
 protected:
  std::string say(ChatThread& thread, std::string message) {
    EXPECT_TRUE(run_task(io_, thread.say(std::move(message))));
    return api_.said;
  }
  ChatThreadPtr resume(std::string id) {
    auto thread = run_task(io_, resume_chat(&api_, std::move(id), {}));
    if (!thread) message_ = thread.error().message();
    return thread ? std::move(*thread) : nullptr;
  }

  asio::io_context io_;
  ChatApi api_;
  std::string message_;
};

TEST_F(ChatThreadTest, ANewChatIsASessionThatRetainsAllTools) {
  ChatThreadPtr thread =
      new_chat(api_, {.system_prompt = "Be kind.", .tools = share_tools({PluginTool{"t"}})});
  EXPECT_EQ(thread->id(), "");
  EXPECT_EQ(
      say(*thread, "Hi"),
      R"(sess_1 Hi {"systemPrompt":"Be kind.","tools":[{"kind":"mantyx_plugin","name":"t"}]})");
  EXPECT_EQ(api_.created,
            R"({"spec":{"name":"chat","systemPrompt":"Be kind.","messages":[],"tools":[],)"
            R"("metadata":{"errand.command":"chat"},"retainTools":"all"},"whenBusy":"queue"})");
  EXPECT_EQ(thread->id(), "sess_1");
}

TEST_F(ChatThreadTest, EveryMessageBringsTheToolsOfItsTerminal) {
  ChatThreadPtr thread = resume("sess_1");
  thread->choose_model("fast");
  EXPECT_EQ(say(*thread, "And?"), R"(sess_1 And? {"modelId":"fast","tools":[]})");
  EXPECT_EQ(api_.created, "");
}

TEST_F(ChatThreadTest, TheLatestChatIsTheOneWithTheLatestMessage) {
  EXPECT_EQ(resume("")->id(), "sess_1");
  api_.latest = {.id = kOther, .metadata = {{"errand.chat", "chat_9"}}};
  EXPECT_EQ(resume("")->id(), "chat_9");
}

TEST_F(ChatThreadTest, AChatThatHasEndedIsNotTheLatestOne) {
  api_.latest = {.id = kRun, .session = kEnded};
  EXPECT_EQ(resume("")->id(), "sess_1");
  api_.is_active = false;
  EXPECT_EQ(resume(""), nullptr);
  EXPECT_EQ(message_, "there is no chat to continue");
}

TEST_F(ChatThreadTest, AChatIsFoundByItsId) {
  EXPECT_EQ(resume("sess_1")->id(), "sess_1");
  EXPECT_EQ(resume("chat_9")->id(), "chat_9");
  EXPECT_EQ(resume("chat_2"), nullptr);
  EXPECT_EQ(message_, "there is no chat \"chat_2\" here");
}

TEST_F(ChatThreadTest, ThePastIsTheLastExchangeAndTheRunThatGoesOn) {
  api_.messages = {
      {.seq = 1, .run = kRun, .text = "Look."},
      {.seq = 2,
       .run = kRun,
       .role = Role::assistant,
       .text = "It is one.",
       .retained = {{.text = "Wait.", .name = "look", .arguments = "{}", .result = "one"}}}};
  api_.current = kOther;
  auto past = run_task(io_, resume("sess_1")->past());
  ASSERT_TRUE(past);
  using Kind = Saying::Kind;
  EXPECT_EQ(past->last, (std::vector<Saying>{{Kind::user, "Look."},
                                             {Kind::model, "Wait."},
                                             {Kind::call, "{}", "look"},
                                             {Kind::result, "one", "look"},
                                             {Kind::model, "It is one."}}));
  EXPECT_EQ(past->run->id, kOther);
  EXPECT_EQ(past->model_id, "fast");
}

TEST_F(ChatThreadTest, MessagesOfOtherTerminalsAreToldOnce) {
  ChatThreadPtr thread = resume("sess_1");
  say(*thread, "Hi");
  api_.messages = {{.seq = 1, .run = kRun, .text = "Hi"},
                   {.seq = 2, .run = kOther, .text = "Me too"}};
  EXPECT_EQ(*run_task(io_, thread->news()), (std::vector<Saying>{{Saying::Kind::user, "Me too"}}));
  EXPECT_EQ(*run_task(io_, thread->news()), std::vector<Saying>());
}

}  // namespace
}  // namespace errand::cli::chat_thread_test
