// Sessions, of a server and of a runtime.
#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "sdk/client/flows/test_server.hpp"

namespace errand::v1::session_test {
namespace {

struct Word {
  std::string word;
};

enum class Way { client, runtime };

class SessionTest : public testing::TestWithParam<Way> {
 protected:
  SessionTest() {
    if (GetParam() == Way::runtime) {
      auto model = scripted({{.text = "Hm.", .calls = {{"echo", Json::object({{"word", "a"}})}}},
                             {.text = "One."},
                             {.text = "Two."}});
      runner_ = std::make_unique<Runtime>(RuntimeOptions{.models = {{.id = "s", .model = model}}});
      return;
    }
    server_ = std::make_unique<sdk::TestServer>(R"({"turns":[
        {"text":["Hm."],"toolCalls":[{"name":"echo","args":{"word":"a"}}]},
        {"text":["One."]},{"text":["Two."]}]})");
    client_ = std::make_unique<Client>(server_->options());
  }

  const Runner& runner() const {
    return runner_ ? static_cast<const Runner&>(*runner_) : static_cast<const Runner&>(*client_);
  }

  // The history of a session has its answers; the turn with a call is not one of them.
  Session make() const {
    return runner().session(
        {.tools = {tool("echo", "", [](const Word& args) { return args.word; })},
         .metadata = {{"a", "b"}},
         .name = "talk"});
  }

 private:
  std::unique_ptr<sdk::TestServer> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Runtime> runner_;
};

INSTANTIATE_TEST_SUITE_P(, SessionTest, testing::Values(Way::client, Way::runtime),
                         [](const auto& way) {
                           return way.param == Way::client ? "OfAServer" : "OfARuntime";
                         });

TEST_P(SessionTest, MessagesFollowEachOtherAndTheirCallsAreAnswered) {
  Session session = make();
  EXPECT_EQ(session.run("First.").text, "One.");
  // The scripted model counts answers: the history has one.
  EXPECT_EQ(session.run({.prompt = "Second."}).text, "One.");
  std::vector<Message> said = session.messages();
  ASSERT_EQ(said.size(), 4U);
  EXPECT_EQ(said[0], (Message{.role = Role::user, .text = "First."}));
  EXPECT_EQ(said[1], (Message{.role = Role::assistant, .text = "One."}));
  EXPECT_EQ(said[2], (Message{.role = Role::user, .text = "Second."}));
}

TEST_P(SessionTest, ASessionIsFoundByItsId) {
  Session session = make();
  EXPECT_EQ(session.run("First.").text, "One.");
  Session same = runner().open_session(session.id());
  EXPECT_EQ(same.messages().size(), 2U);
  SessionPage page = runner().sessions({.metadata = {{"a", "b"}}});
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions[0].id, session.id());
  EXPECT_EQ(page.sessions[0].name, "talk");
  EXPECT_TRUE(page.sessions[0].active);
  EXPECT_EQ(page.sessions[0].summary, "First. One.");
  EXPECT_TRUE(page.sessions[0].last_used_at.ends_with('Z')) << page.sessions[0].last_used_at;
}

TEST_P(SessionTest, ASessionThatHasEndedTakesNoMessages) {
  Session session = make();
  session.end();
  Result<Reply> reply = session.try_run({.prompt = "More."});
  EXPECT_EQ(reply.error().reason(), "session_ended");
  EXPECT_FALSE(runner().sessions().sessions.at(0).active);
}

TEST_P(SessionTest, ASessionBeginsWithoutAPrompt) {
  try {
    runner().session({.prompt = "Go."});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.pointer(), "/prompt");
  }
}

// ---- Only in a client: who answers the calls
// -----------------------------------------------------

constexpr std::string_view kEcho = R"({"turns":[
    {"toolCalls":[{"name":"echo","args":{"word":"a"}}]},{"text":["Done."]}]})";

Tool echo(std::function<std::string(const Word&, ToolContext&)> handler) {
  return tool("echo", "Echo a word.", std::move(handler));
}

TEST(SessionCalls, ASessionThatAnswersNoneLeavesThemToWorkers) {
  sdk::TestServer server(kEcho);
  Client caller(server.options());
  Client helper(server.options());
  std::atomic<int> here = 0;
  std::atomic<int> there = 0;
  Worker worker =
      helper.serve(Toolkit({.name = "kit", .tools = {echo([&](const Word& args, ToolContext&) {
                                             ++there;
                                             return args.word;
                                           })}}));
  Session session = caller.session({.tools = {echo([&](const Word& args, ToolContext&) {
                                      ++here;
                                      return args.word;
                                    })},
                                    .answer_calls = false});
  EXPECT_EQ(session.run("Go.").text, "Done.");
  EXPECT_EQ(here, 0);
  EXPECT_EQ(there, 1);
}

TEST(SessionCalls, HandlersKnowByWhenTheyHaveToBeDone) {
  sdk::TestServer server(kEcho);
  Client client(server.options());
  std::vector<bool> has_deadline;
  Tool timed = echo([&](const Word& args, ToolContext& context) {
    has_deadline.push_back(context.deadline().has_value());
    return args.word;
  });
  Session session = client.session({.tools = {timed}, .tool_timeout = std::chrono::minutes(1)});
  EXPECT_EQ(session.run("Go.").text, "Done.");
  EXPECT_EQ(has_deadline, std::vector<bool>({true}));
}

TEST(SessionCalls, ASessionThatIsFoundMayHaveTheToolsOfAnMcpServer) {
  sdk::TestServer server(R"({"turns":[
      {"toolCalls":[{"name":"calc_echo","args":{"word":"a"}}]},{"text":["Done."]}]})");
  Client client(server.options());
  std::atomic<int> calls = 0;
  mcp::Server calc(Toolkit({.name = "calc", .tools = {echo([&](const Word& args, ToolContext&) {
                                              ++calls;
                                              return args.word;
                                            })}}));
  Session session = client.session({.mcp_servers = {calc}});
  Client other(server.options());
  Session found = other.open_session(session.id(), {.mcp_servers = {calc}});
  EXPECT_EQ(found.run("Go.").text, "Done.");
  EXPECT_EQ(calls, 1);
}

TEST(SessionCalls, AMessageMaySayWhatItDoesWhileTheSessionIsBusy) {
  sdk::TestServer server(kEcho);
  Client client(server.options());
  std::promise<void> begun;
  std::promise<void> over;
  Session session = client.session({.tools = {echo([&](const Word& args, ToolContext&) {
                                      begun.set_value();
                                      over.get_future().wait();
                                      return args.word;
                                    })}});
  auto first = std::async(std::launch::async, [&] { return session.run("Go.").text; });
  begun.get_future().wait();
  Result<Reply> second = session.try_run({.prompt = "More.", .when_busy = WhenBusy::reject});
  EXPECT_EQ(second.error().reason(), "session_busy");
  over.set_value();
  EXPECT_EQ(first.get(), "Done.");
}

}  // namespace
}  // namespace errand::v1::session_test
