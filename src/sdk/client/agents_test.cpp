// The stored agents of a server, through the public headers.
#include <gtest/gtest.h>
#include <algorithm>

#include <errand/client.hpp>
#include <string>

#include "sdk/client/test_server.hpp"

namespace errand::sdk::agents_test {
namespace {

constexpr std::string_view kTurns = R"({"turns":[{"text":["Hello."]}]})";

class AgentsTest : public testing::Test {
 protected:
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

  TestServer server_{kTurns};
  v1::Client client_{server_.options()};
};

TEST_F(AgentsTest, AnAgentIsCreatedReadAndUsedByARun) {
  v1::Agent made = client_.create_agent(support());
  EXPECT_EQ(made.name, "support");
  EXPECT_EQ(made.version, 1);
  EXPECT_EQ(made.description, "Answers customers.");
  EXPECT_EQ(made.system_prompt, "Be brief.");
  EXPECT_EQ(made.model, "s");
  EXPECT_EQ(made.members.find("retainTools")->dump(), R"("all")");
  EXPECT_EQ(made.members.find("metadata")->dump(), R"({"team":"one"})");
  EXPECT_EQ(made.members.find("budgets")->dump(), R"({"maxToolTurns":3})");
  for (const std::string& name : {made.name, made.id}) {
    v1::Agent read = client_.agent(name);
    EXPECT_EQ(read.id, made.id);
    EXPECT_EQ(read.members, made.members);
  }
  EXPECT_EQ(client_.run({.prompt = "Hi.", .agent = "support"}).text, "Hello.");
}

TEST_F(AgentsTest, ApplyingCreatesAndThenReplaces) {
  EXPECT_EQ(client_.apply_agent(support()).version, 1);
  v1::AgentSpec other = support();
  other.system_prompt = "Be kind.";
  v1::Agent second = client_.apply_agent(other);
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(second.system_prompt, "Be kind.");
  EXPECT_EQ(client_.agent("support", 1).system_prompt, "Be brief.");
  std::vector<v1::Agent> versions = client_.agent_versions("support");
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions.at(0).version, 2);
  EXPECT_EQ(versions.at(1).system_prompt, "Be brief.");
}

TEST_F(AgentsTest, ReplacingNeedsTheLatestVersion) {
  client_.create_agent(support());
  EXPECT_EQ(client_.replace_agent(support(), 1).version, 2);
  v1::Error late = error_of([&] { (void)client_.replace_agent(support(), 1); });
  EXPECT_EQ(late.code(), v1::ErrorCode::conflict);
  EXPECT_EQ(late.reason(), "version_mismatch");
  EXPECT_EQ(client_.agent("support").version, 2);
  late = error_of([&] { client_.delete_agent("support", 1); });
  EXPECT_EQ(late.reason(), "version_mismatch");
  client_.delete_agent("support", 2);
  EXPECT_EQ(error_of([&] { (void)client_.agent("support"); }).code(), v1::ErrorCode::not_found);
}

TEST_F(AgentsTest, AListHasPages) {
  for (const char* name : {"a", "b", "c"}) {
    v1::AgentSpec agent;
    agent.name = name;
    client_.create_agent(agent);
  }
  std::string names;
  v1::AgentQuery query{.limit = 2};
  do {
    v1::AgentPage page = client_.agents(query);
    EXPECT_LE(page.agents.size(), 2U);
    for (const v1::Agent& agent : page.agents) names += agent.name;
    query.cursor = page.next_cursor;
  } while (!query.cursor.empty());
  std::sort(names.begin(), names.end());  // those of one millisecond come in any order
  EXPECT_EQ(names, "abc");
}

TEST_F(AgentsTest, ErrorsAreTyped) {
  client_.create_agent(support());
  v1::Error taken = error_of([&] { (void)client_.create_agent(support()); });
  EXPECT_EQ(taken.code(), v1::ErrorCode::conflict);
  EXPECT_EQ(taken.reason(), "name_taken");
  v1::AgentSpec wrong;
  wrong.name = "no name";
  v1::Error bad = error_of([&] { (void)client_.create_agent(wrong); });
  EXPECT_EQ(bad.code(), v1::ErrorCode::invalid_argument);
  EXPECT_EQ(bad.pointer(), "/name");
  wrong.name = "";
  EXPECT_EQ(error_of([&] { (void)client_.apply_agent(wrong); }).pointer(), "/name");
  wrong.name = "x";
  wrong.more = {{"prompt", "Hi."}};
  EXPECT_EQ(error_of([&] { (void)client_.apply_agent(wrong); }).pointer(), "/prompt");
  EXPECT_EQ(error_of([&] { client_.delete_agent("nobody"); }).code(), v1::ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { (void)client_.agent("support", 9); }).code(), v1::ErrorCode::not_found);
  EXPECT_EQ(error_of([&] { client_.delete_agent(""); }).code(), v1::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace errand::sdk::agents_test
