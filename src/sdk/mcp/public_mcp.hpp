#pragma once

#include <string>
#include <vector>

#include <errand/mcp.hpp>

#include "base/error.hpp"
#include "mcp/codec.hpp"
#include "mcp/server_types.hpp"

// What a program says about prompts, resources and questions, as the protocol's types.
namespace errand::sdk {

mcp::Prompt offered_prompt(const v1::mcp::Prompt& prompt);
mcp::GetPromptResult prompt_result(v1::mcp::PromptResult result);
// Parts without a URI or a type have these.
std::vector<mcp::EmbeddedResource> embedded(v1::mcp::ResourceContents contents,
                                            const std::string& uri, const std::string& mime_type);

mcp::InputRequest request_of(const v1::mcp::Question& question);

// An error of the program, to be told to the client.
Error internal_error(const v1::Error& error);

}  // namespace errand::sdk
