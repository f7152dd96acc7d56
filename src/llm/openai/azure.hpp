#pragma once

#include <string>
#include <string_view>

namespace errand::llm {

// Azure OpenAI: the formats of OpenAI at paths of its own. What it calls a deployment is the model
// of a request. The key goes into the header "api-key".

struct AzurePaths {
  std::string endpoint;
  std::string models;  // the list of what can be deployed, which does not tell of deployments
};

// `endpoint` is "/chat/completions" or "/responses". With an `api_version` it is the API that has
// versions, whose chat completions are those of a deployment; without one it is v1.
AzurePaths azure_paths(std::string_view endpoint, std::string_view deployment,
                       std::string_view api_version);

// Whether this is a version, such as "2024-10-21" or "2025-04-01-preview".
bool is_azure_version(std::string_view text);

// The address of a resource without the "/openai" or "/openai/v1" that it is often copied with.
std::string_view azure_resource(std::string_view url);

}  // namespace errand::llm
