#include "llm/openai/endpoint.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::llm {

void add_openai_headers(HeaderList& headers, const std::string& api_key,
                        const HeaderList& besides) {
  if (!api_key.empty()) headers.emplace_back("authorization", cat("Bearer ", api_key));
  headers.insert(headers.end(), besides.begin(), besides.end());
}

ProviderRequest openai_request(const std::string& path, const std::string& api_key,
                               const HeaderList& besides, std::string body) {
  ProviderRequest out{
      .path = path,
      .headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}},
      .body = std::move(body)};
  add_openai_headers(out.headers, api_key, besides);
  return out;
}

ProviderProbe openai_probe(std::string_view path, std::string_view name, std::string model,
                           const std::string& models_path) {
  if (!models_path.empty()) return {.path = models_path, .headers = {}, .listed_id = ""};
  if (path.ends_with(name)) path.remove_suffix(name.size());
  return {.path = cat(path, "/models"), .headers = {}, .listed_id = std::move(model)};
}

}  // namespace errand::llm
