#pragma once

#include <string>
#include <string_view>

#include "llm/provider.hpp"

namespace errand::llm {

// The headers of every request to OpenAI or a compatible server, added behind those that are there.
void add_openai_headers(HeaderList& headers, const std::string& api_key, const HeaderList& besides);

// The list of models. It lies beside the endpoint `name` that `path` ends with.
ProviderProbe openai_probe(std::string_view path, std::string_view name, std::string model);

}  // namespace errand::llm
