#include "tool/blot_decls.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::blot_decls_test {
namespace {

ToolDecl named(std::string name) {
  return {.name = std::move(name), .description = "Looks."};
}

class BlotDecls : public testing::Test {
 protected:
  BlotDecls() { secrets_.remember("canary-\"1\""); }

  CallSecrets secrets_{nullptr, *WorkspaceSlug::parse("default")};
};

TEST_F(BlotDecls, NothingThatAServerSaysAboutAToolHoldsASecret) {
  const std::string secret = "canary-\"1\"";
  ToolDecl tool{.name = "look",
                .title = cat("Look ", secret, "!"),
                .description = cat("You sent ", secret, "."),
                .input_schema = share_schema({{"title", secret}, {"type", "object"}}),
                .output_schema = share_schema({{"enum", json::Array{secret, 1}}})};
  tool.rules = {cat("Say ", secret, ".")};
  std::vector<ToolDecl> tools{tool};
  blot_out(tools, secrets_);
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].title, "Look [redacted]!");
  EXPECT_EQ(tools[0].description, "You sent [redacted].");
  EXPECT_EQ(tools[0].rules, (std::vector<std::string>{"Say [redacted]."}));
  EXPECT_EQ(json::write(json::Value(*tools[0].input_schema)),
            R"({"title":"[redacted]","type":"object"})");
  EXPECT_EQ(json::write(json::Value(*tools[0].output_schema)), R"({"enum":["[redacted]",1]})");
}

TEST_F(BlotDecls, AToolGoesIfItsNameHoldsASecretButNotIfItEndsLikeOneBegins) {
  secrets_.remember("github_pat_1");
  std::vector<ToolDecl> tools{named("list_github"), named("x_github_pat_1"), named("other")};
  tools[2].origin.upstream = "github_pat_1";
  blot_out(tools, secrets_);
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].name, "list_github");
}

TEST_F(BlotDecls, AToolWithoutSecretsKeepsItsSchemas) {
  std::vector<ToolDecl> tools{named("look")};
  const SchemaPtr schema = tools[0].input_schema;
  blot_out(tools, secrets_);
  EXPECT_EQ(tools[0].input_schema, schema);
}

}  // namespace
}  // namespace errand::blot_decls_test
