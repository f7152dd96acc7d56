// Stored agents, of a server and of a runtime.
#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "sdk/client/flows/test_server.hpp"

namespace errand::sdk::agents_test {
namespace {

constexpr std::string_view kTurns = R"({"turns":[{"text":["Hello."]}]})";

enum class Way { client, runtime };

class AgentsTest : public testing::TestWithParam<Way> {
 protected:
  AgentsTest() {
    if (GetParam() == Way::runtime) {
      auto model = v1::scripted({{.text = "Hello."}});
      runner_ = std::make_unique<v1::Runtime>(
          v1::RuntimeOptions{.models = {{.id = "s", .model = model}}});
      return;
    }
    server_ = std::make_unique<TestServer>(kTurns);
    client_ = std::make_unique<v1::Client>(server_->options());
  }

  const v1::Runner& runner() const {
    return runner_ ? static_cast<const v1::Runner&>(*runner_)
                   : static_cast<const v1::Runner&>(*client_);
  }

  // The Error of a call that must fail.
  template <class Call>
  static v1::Error error_of(Call call) {
    try {
      call();
    } catch (const v1::Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {v1::ErrorCode::internal, "nothing was thrown"};
  }

  static v1::AgentSpec support() {
    v1::AgentSpec agent;
    agent.name = "support";
    agent.description = "Answers customers.";
    agent.system_prompt = "Be brief.";
    agent.model = "s";
    agent.max_tool_turns = 3;
    agent.metadata = {{"team", "one"}};
    agent.more = {{"retainTools", "all"}};
    return agent;
  }

 private:
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<v1::Client> client_;
  std::unique_ptr<v1::Runtime> runner_;
};

INSTANTIATE_TEST_SUITE_P(, AgentsTest, testing::Values(Way::client, Way::runtime),
                         [](const auto& way) {
                           return way.param == Way::client ? "OfAServer" : "OfARuntime";
                         });

TEST_P(AgentsTest, AnAgentIsCreatedReadAndUsedByARun) {
  v1::Agent made = runner().create_agent(support());
  EXPECT_EQ(made.name, "support");
  EXPECT_EQ(made.version, 1);
  EXPECT_EQ(made.description, "Answers customers.");
  EXPECT_EQ(made.system_prompt, "Be brief.");
  EXPECT_EQ(made.model, "s");
  EXPECT_EQ(made.members.find("retainTools")->dump(), R"("all")");
  EXPECT_EQ(made.members.find("metadata")->dump(), R"({"team":"one"})");
  EXPECT_EQ(made.members.find("budgets")->dump(), R"({"maxToolTurns":3})");
  for (const std::string& name : {made.name, made.id}) {
    v1::Agent read = runner().agent(name);
    EXPECT_EQ(read.id, made.id);
    EXPECT_EQ(read.members, made.members);
  }
  EXPECT_EQ(runner().run({.prompt = "Hi.", .agent = "support"}).text, "Hello.");
}

TEST_P(AgentsTest, ApplyingCreatesAndThenReplaces) {
  EXPECT_EQ(runner().apply_agent(support()).version, 1);
  v1::AgentSpec other = support();
  other.system_prompt = "Be kind.";
  v1::Agent second = runner().apply_agent(other);
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.system_prompt, "Be kind.");
  EXPECT_EQ(runner().agent("support", 1).system_prompt, "Be brief.");
  std::vector<v1::Agent> versions = runner().agent_versions("support");
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions.at(0).version, 2);
  EXPECT_EQ(versions.at(1).system_prompt, "Be brief.");
}

TEST_P(AgentsTest, ReplacingNeedsTheLatestVersion) {
  runner().create_agent(support());
  EXPECT_EQ(runner().replace_agent(support(), 1).version, 2);
  v1::Error late = error_of([&] { (void)runner().replace_agent(support(), 1); });
  EXPECT_EQ(late.code(), v1::ErrorCode::conflict);
  EXPECT_EQ(late.reason(), "version_mismatch");
  EXPECT_EQ(runner().agent("support").version, 2);
  late = error_of([&] { runner().delete_agent("support", 1); });
  EXPECT_EQ(late.reason(), "version_mismatch");
  runner().delete_agent("support", 2);
  EXPECT_EQ(error_of([&] { (void)runner().agent("support"); }).code(), v1::ErrorCode::not_found);
}

TEST_P(AgentsTest, AListHasPages) {
  for (const char* name : {"a", "b", "c"}) {
    v1::AgentSpec agent;
    agent.name = name;
    runner().create_agent(agent);
  }
  std::string names;
  v1::AgentQuery query{.limit = 2};
  do {
    v1::AgentPage page = runner().agents(query);
    EXPECT_LE(page.agents.size(), 2U);
    for (const v1::Agent& agent : page.agents) names += agent.name;
    query.cursor = page.next_cursor;
  } while (!query.cursor.empty());
  std::sort(names.begin(), names.end());  // those of one millisecond come in any order
  EXPECT_EQ(names, "abc");
}

TEST_P(AgentsTest, ErrorsAreTyped) {
  runner().create_agent(support());
  v1::Error taken = error_of([&] { (void)runner().create_agent(support()); });
  EXPECT_EQ(taken.code(), v1::ErrorCode::conflict);
  EXPECT_EQ(taken.reason(), "name_taken");
  v1::AgentSpec wrong;
  wrong.name = "no name";
  v1::Error bad = error_of([&] { (void)runner().create_agent(wrong); });
  EXPECT_EQ(bad.code(), v1::ErrorCode::invalid_argument);
  EXPECT_EQ(bad.pointer(), "/name");
  wrong.name = "";
  EXPECT_EQ(error_of([&] { (void)runner().apply_agent(wrong); }).pointer(), "/name");
  wrong.name = "x";
  wrong.more = {{"prompt", "Hi."}};
  EXPECT_EQ(error_of([&] { (void)runner().apply_agent(wrong); }).pointer(), "/prompt");
  EXPECT_EQ(error_of([&] { runner().delete_agent("nobody"); }).code(), v1::ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { (void)runner().agent("support", 9); }).code(), v1::ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { runner().delete_agent(""); }).code(), v1::ErrorCode::invalid_argument);
}

TEST_P(AgentsTest, KeysInHeadersAreNotShown) {
  v1::AgentSpec agent = support();
  agent.server_tools = {v1::Json::parse(R"({"kind":"mcp","name":"docs","url":"https://e.org/mcp",
      "headers":{"Authorization":"Bearer hush"}})")
                            .value()};
  runner().create_agent(agent);
  const std::string shown = v1::Json(runner().agent("support").members).dump();
  EXPECT_NE(shown.find(R"("Authorization":"[redacted]")"), std::string::npos) << shown;
}

}  // namespace
}  // namespace errand::sdk::agents_test
