#include "llm/openai/endpoint.hpp"

#include <gtest/gtest.h>

#include "llm/openai/chat_provider.hpp"
#include "llm/openai/responses_provider.hpp"

namespace errand::llm::endpoint_test {
namespace {

const HeaderList kHeaders = {{"authorization", "Bearer k"}, {"x-team", "a"}};

TEST(OpenAiProbe, AsksForTheListOfModelsBesideTheEndpoint) {
  ChatProvider chat({.model = "m", .api_key = "k", .headers = {{"x-team", "a"}}});
  EXPECT_EQ(chat.probe().path, "/v1/models");
  EXPECT_EQ(chat.probe().headers, kHeaders);
  EXPECT_EQ(chat.probe().listed_id, "m");
  ResponsesProvider responses(
      {.model = "m", .path = "/responses", .api_key = "k", .headers = {{"x-team", "a"}}});
  EXPECT_EQ(responses.probe().path, "/models");
  EXPECT_EQ(responses.probe().headers, kHeaders);
  EXPECT_EQ(responses.probe().listed_id, "m");
}

TEST(OpenAiProbe, NoKeyIsSentWhereThereIsNone) {
  EXPECT_EQ(ChatProvider({.model = "m"}).probe().headers, HeaderList());
}

}  // namespace
}  // namespace errand::llm::endpoint_test
