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
  Spec rude;
  rude.messages = {user, system};
  Spec polite;
  polite.messages = {user};
  EXPECT_TRUE(check_asked(unrestricted(), rude));
  EXPECT_TRUE(check_asked(restricted_to("support"), polite));
  auto refused = check_asked(restricted_to("support"), rude);
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

Spec with_tools(ToolSetPtr tools) {
  Spec spec;
  spec.tools = std::move(tools);
  return spec;
}

TEST(AgentAccess, SecretsGoToACallersOwnHostOnlyWithTheirScope) {
  const ToolSetPtr tools = tools_with_secret();
  const Spec asked = with_tools(tools);
  EXPECT_TRUE(check_asked(unrestricted(), asked));
  EXPECT_TRUE(check_asked(with_grant({.scopes = {{"runs:write", "secrets:use"}}}), asked));
  auto refused = check_asked(with_grant({.scopes = {{"runs:write"}}}), asked);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "insufficient_scope");
  EXPECT_EQ(refused.error().pointer(), "/tools/1/headers");
  const ToolSetPtr first = share_tools({tools->refs.front()});
  EXPECT_TRUE(check_asked(with_grant({.scopes = {{"runs:write"}}}), with_tools(first)));
}

TEST(AgentAccess, AKeyRestrictedToAgentsUsesTheirSecretsAlone) {
  const ToolSetPtr tools = tools_with_secret();
  EXPECT_FALSE(check_asked(restricted_to("support"), with_tools(tools)));
  EXPECT_FALSE(check_overrides(restricted_to("support"), SpecOverrides{.tools = tools}));
  EXPECT_TRUE(
      check_asked(with_grant({.scopes = {{"runs:write", "secrets:use"}}, .agents = {{"support"}}}),
                  with_tools(tools)));
}

ToolRef server_at(std::string url) {
  return McpServer{.name = "crm", .url = std::move(url), .headers = {}, .tool_filter = {}};
}

TEST(AgentAccess, ARestrictedKeyBringsNoToolsOfTheWorkspace) {
  const std::vector<ToolRef> of_workspace = {WorkspaceTool{.id = "refund_order"},
                                             PluginTool{.name = "web_fetch"},
                                             server_at("config:crm")};
  const Principal named =
      with_grant({.scopes = {{"runs:write", "tools:use"}}, .agents = {{"support"}}});
  for (const ToolRef& ref : of_workspace) {
    const ToolSetPtr tools = share_tools({LocalTool{.name = "own"}, ref});
    EXPECT_TRUE(check_asked(unrestricted(), with_tools(tools)));
    EXPECT_TRUE(check_asked(named, with_tools(tools)));
    EXPECT_TRUE(check_asked(with_grant({.scopes = {{"runs:write"}}}), with_tools(tools)));
    auto refused = check_asked(restricted_to("support"), with_tools(tools));
    ASSERT_FALSE(refused) << kind_of(ref);
    EXPECT_EQ(refused.error().reason(), "insufficient_scope");
    EXPECT_EQ(refused.error().pointer(), "/tools/1");
    EXPECT_FALSE(check_overrides(restricted_to("support"), SpecOverrides{.tools = tools}));
  }
}

TEST(AgentAccess, ARestrictedKeyBringsWhatIsItsOwn) {
  const ToolSetPtr tools =
      share_tools({LocalTool{.name = "own"}, server_at("https://own.example.com"),
                   StoredAgent{.agent_id = "support"}});
  EXPECT_TRUE(check_asked(restricted_to("support"), with_tools(tools)));
}

TEST(AgentAccess, ARestrictedKeyTakesNoRunIntoARoomOfTheWorkspace) {
  Spec inside;
  inside.room = RoomPlace{.name = "office"};
  EXPECT_TRUE(check_asked(unrestricted(), inside));
  auto refused = check_asked(restricted_to("support"), inside);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().pointer(), "/room");
  Spec elsewhere;
  elsewhere.room = RoomPlace{.url = "wss://rooms.example.com/office", .token = "theirs"};
  EXPECT_TRUE(check_asked(restricted_to("support"), elsewhere));
}

}  // namespace
}  // namespace errand::engine::agent_access_test
