#include "engine/records/agent_access.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace errand::engine {
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

}  // namespace
}  // namespace errand::engine
