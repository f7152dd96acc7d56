#include "llm/openai/azure.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "llm/openai/chat_provider.hpp"
#include "llm/openai/responses_provider.hpp"

namespace errand::llm::azure_test {
namespace {

using Paths = std::pair<std::string, std::string>;

Paths paths(std::string_view endpoint, std::string_view deployment, std::string_view version) {
  AzurePaths made = azure_paths(endpoint, deployment, version);
  return {made.endpoint, made.models};
}

TEST(Azure, V1HasNoVersionsAndNoDeploymentsInItsPaths) {
  EXPECT_EQ(paths("/chat/completions", "d", ""),
            Paths("/openai/v1/chat/completions", "/openai/v1/models"));
  EXPECT_EQ(paths("/responses", "d", ""), Paths("/openai/v1/responses", "/openai/v1/models"));
}

TEST(Azure, WithAVersionChatCompletionsAreThoseOfADeployment) {
  EXPECT_EQ(paths("/chat/completions", "my/d", "2024-10-21"),
            Paths("/openai/deployments/my%2Fd/chat/completions?api-version=2024-10-21",
                  "/openai/models?api-version=2024-10-21"));
  EXPECT_EQ(paths("/responses", "d", "2025-04-01-preview"),
            Paths("/openai/responses?api-version=2025-04-01-preview",
                  "/openai/models?api-version=2025-04-01-preview"));
}

TEST(Azure, AVersionIsADate) {
  for (std::string_view text : {"2024-10-21", "2025-04-01-preview"}) {
    EXPECT_TRUE(is_azure_version(text)) << text;
  }
  for (std::string_view text : {"", "v1", "preview", "-preview", "2024-10-2", "2024/10/21",
                                "2024-10-21-", "2024-10-21&a=b", "2024-1a-21"}) {
    EXPECT_FALSE(is_azure_version(text)) << text;
  }
}

TEST(Azure, TheAddressOfAResourceIsFoundInWhatPeopleCopy) {
  for (std::string_view url : {"https://a", "https://a/openai", "https://a/openai/v1"}) {
    EXPECT_EQ(azure_resource(url), "https://a");
  }
  EXPECT_EQ(azure_resource("https://gateway/azure/v1"), "https://gateway/azure/v1");
}

TEST(Azure, ItsListOfModelsNeedNotHaveTheDeployment) {
  ChatProvider chat({.model = "d", .path = "/p", .models_path = "/openai/models"});
  EXPECT_EQ(chat.probe().path, "/openai/models");
  EXPECT_EQ(chat.probe().listed_id, "");
  ResponsesProvider responses({.model = "d", .path = "/p", .models_path = "/openai/models"});
  EXPECT_EQ(responses.probe().path, "/openai/models");
  EXPECT_EQ(responses.probe().listed_id, "");
}

}  // namespace
}  // namespace errand::llm::azure_test
