// Sessions, of a server and of a runtime.
#include <errand/runtime.hpp>

#include <gtest/gtest.h>

#include <memory>

#include "sdk/client/test_server.hpp"

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

}  // namespace
}  // namespace errand::v1::session_test
