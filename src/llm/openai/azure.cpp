#include "llm/openai/azure.hpp"

#include "base/text.hpp"

namespace errand::llm {

AzurePaths azure_paths(std::string_view endpoint, std::string_view deployment,
                       std::string_view api_version) {
  if (api_version.empty()) {
    return {.endpoint = cat("/openai/v1", endpoint), .models = "/openai/v1/models"};
  }
  std::string query = cat("?api-version=", api_version);
  std::string of_deployment;
  if (endpoint == "/chat/completions") {
    of_deployment = cat("/deployments/", percent_encode(deployment));
  }
  return {.endpoint = cat("/openai", of_deployment, endpoint, query),
          .models = cat("/openai/models", query)};
}

bool is_azure_version(std::string_view text) {
  constexpr std::string_view kPreview = "-preview";
  constexpr std::string_view kShape = "0000-00-00";
  if (text.ends_with(kPreview)) text.remove_suffix(kPreview.size());
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !is_digit : text[i] != '-') return false;
  }
  return true;
}

std::string_view azure_resource(std::string_view url) {
  for (std::string_view end : {"/openai/v1", "/openai"}) {
    if (url.ends_with(end)) url.remove_suffix(end.size());
  }
  return url;
}

}  // namespace errand::llm
