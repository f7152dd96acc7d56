#include "engine/records/agent_access.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace errand::engine::agent_access_test {
namespace {

Principal restricted_to(std::string agent) {
  Grant grant{.agents = {{std::move(agent)}}};
  return {.workspace = *WorkspaceSlug::parse("acme"),
          .key = *KeyId::parse("key_1"),
          .grant = std::make_shared<const Grant>(std::move(grant))};
}

Principal unrestricted() {
  return {.workspace = *WorkspaceSlug::parse("acme"), .key = *KeyId::parse("key_1")};
}

Result<NamedRecord> support() {
  return NamedRecord{.id = "agent_1", .name = "support"};
}

TEST(AgentAccess, AKeyNamesItsAgentsByIdOrByName) {
  EXPECT_TRUE(may_run(restricted_to("support"), "agent_1", support()));
  EXPECT_TRUE(may_run(restricted_to("agent_1"), "support", support()));
  EXPECT_FALSE(may_run(restricted_to("sales"), "support", support()));
  EXPECT_TRUE(may_run(unrestricted(), "support", support()));
}

TEST(AgentAccess, AnAgentThatDoesNotExistIsForbiddenLikeAnother) {
  const Result<NamedRecord> nothing = Error(ErrorCode::not_found, "there is no agent");
  EXPECT_FALSE(may_run(restricted_to("sales"), "support", nothing));
  EXPECT_TRUE(may_run(restricted_to("support"), "support", nothing));
}

TEST(AgentAccess, ARestrictedKeyRunsNothingButAgents) {
  EXPECT_TRUE(check_may_run_without_agent(unrestricted()));
  auto refused = check_may_run_without_agent(restricted_to("support"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::forbidden);
}

TEST(AgentAccess, ARestrictedKeyChangesNoSystemPrompt) {
  SpecOverrides rude{.system_prompt = "Be rude."};
  EXPECT_TRUE(check_overrides(unrestricted(), rude));
  EXPECT_TRUE(check_overrides(restricted_to("support"), SpecOverrides{.prompt = "Hi"}));
  auto refused = check_overrides(restricted_to("support"), rude);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().pointer(), "/systemPrompt");
}

TEST(AgentAccess, ARestrictedKeySaysNothingAsTheSystem) {
  Message user;
  Message system;
  system.role = Role::system;
  const std::vector<Message> messages = {user, system};
  EXPECT_TRUE(check_messages(unrestricted(), messages));
  EXPECT_TRUE(check_messages(restricted_to("support"), {user}));
  auto refused = check_messages(restricted_to("support"), messages);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::forbidden);
  EXPECT_EQ(refused.error().pointer(), "/messages/1/role");
}

TEST(AgentAccess, ARestrictedKeyChangesNothingThatAgentsAreMadeOf) {
  for (const char* scope : {"agents:write", "tools:write", "secrets:write"}) {
    EXPECT_TRUE(check_scope_of_agents(unrestricted(), scope)) << scope;
    EXPECT_FALSE(check_scope_of_agents(restricted_to("support"), scope)) << scope;
  }
  EXPECT_TRUE(check_scope_of_agents(restricted_to("support"), "runs:write"));
}

// Tools as a caller gives them: a server with a key of its own, then one with a secret's.
ToolSetPtr tools_with_secret() {
  return share_tools({McpServer{.name = "own",
                                .url = "https://own.example.com",
                                .headers = {{"X-Key", "k3y"}},
                                .tool_filter = {}},
                      RemoteAgent{.name = "crm",
                                  .description = {},
                                  .card_url = "https://crm.example.com",
                                  .headers = {{"X-Key", "{{secret:CRM}}"}},
                                  .context_id = {}}});
}

Principal with_grant(Grant grant) {
  Principal who = unrestricted();
  who.grant = std::make_shared<const Grant>(std::move(grant));
  return who;
}

TEST(AgentAccess, SecretsGoToACallersOwnHostOnlyWithTheirScope) {
  const ToolSetPtr tools = tools_with_secret();
  EXPECT_TRUE(check_secrets(unrestricted(), *tools));
  EXPECT_TRUE(check_secrets(with_grant({.scopes = {{"runs:write", "secrets:use"}}}), *tools));
  auto refused = check_secrets(with_grant({.scopes = {{"runs:write"}}}), *tools);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "insufficient_scope");
  EXPECT_EQ(refused.error().pointer(), "/tools/1/headers");
  const ToolSetPtr first = share_tools({tools->refs.front()});
  EXPECT_TRUE(check_secrets(with_grant({.scopes = {{"runs:write"}}}), *first));
}

TEST(AgentAccess, AKeyRestrictedToAgentsUsesTheirSecretsAlone) {
  const ToolSetPtr tools = tools_with_secret();
  EXPECT_FALSE(check_secrets(restricted_to("support"), *tools));
  EXPECT_FALSE(check_overrides(restricted_to("support"), SpecOverrides{.tools = tools}));
  EXPECT_TRUE(check_secrets(
      with_grant({.scopes = {{"runs:write", "secrets:use"}}, .agents = {{"support"}}}), *tools));
}

}  // namespace
}  // namespace errand::engine::agent_access_test
