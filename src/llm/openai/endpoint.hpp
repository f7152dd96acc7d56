#pragma once

#include <string>
#include <string_view>

#include "llm/provider.hpp"

namespace errand::llm {

// The headers of every request to OpenAI or a compatible server, added behind those that are there.
void add_openai_headers(HeaderList& headers, const std::string& api_key, const HeaderList& besides);

// A question whose answer is streamed.
ProviderRequest openai_request(const std::string& path, const std::string& api_key,
                               const HeaderList& besides, std::string body);

// The list of models: it is at `models_path`, and then need not have this one, or it lies beside
// the endpoint `name` that `path` ends with.
ProviderProbe openai_probe(std::string_view path, std::string_view name, std::string model,
                           const std::string& models_path);

}  // namespace errand::llm
