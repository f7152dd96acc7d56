#include "sdk/mcp/public_mcp.hpp"

#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "mcp/server/served_tool.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/handlers.hpp"

namespace errand::sdk {
namespace {

std::string_view word_of(v1::mcp::Speaker speaker) {
  return speaker == v1::mcp::Speaker::user ? "user" : "assistant";
}

mcp::Content content_of(v1::Content content) {
  ToolOutcome outcome = outcome_of({.content = {std::move(content)}});
  if (outcome.content.empty()) return mcp::TextContent{};
  return mcp::offered_content(outcome.content.front());
}

struct ToRequest {
  mcp::InputRequest operator()(const v1::mcp::Elicitation& one) const {
    json::Object params{{"message", one.message}};
    params["requestedSchema"] = v1::detail::to_value(one.schema);
    return {.method = "elicitation/create", .params = std::move(params)};
  }
  mcp::InputRequest operator()(const v1::mcp::Sampling& one) const {
    json::Array messages;
    for (const v1::mcp::PromptMessage& message : one.messages) {
      messages.push_back(json::Object{{"role", word_of(message.speaker)},
                                      {"content", mcp::to_json(content_of(message.content))}});
    }
    json::Object params{{"messages", std::move(messages)}, {"maxTokens", one.max_tokens}};
    if (!one.system_prompt.empty()) params["systemPrompt"] = one.system_prompt;
    if (one.temperature) params["temperature"] = *one.temperature;
    if (!one.stop_sequences.empty()) {
      params["stopSequences"] = json::Array(one.stop_sequences.begin(), one.stop_sequences.end());
    }
    json::Array hints;
    for (const std::string& hint : one.model_hints) hints.push_back(json::Object{{"name", hint}});
    if (!hints.empty()) params["modelPreferences"] = json::Object{{"hints", std::move(hints)}};
    return {.method = "sampling/createMessage", .params = std::move(params)};
  }
  mcp::InputRequest operator()(const v1::mcp::ListRoots&) const {
    return {.method = "roots/list", .params = {}};
  }
};

}  // namespace

mcp::Prompt offered_prompt(const v1::mcp::Prompt& prompt) {
  mcp::Prompt out{.name = prompt.name, .title = prompt.title, .description = prompt.description};
  for (const v1::mcp::PromptArgument& one : prompt.arguments) {
    out.arguments.push_back(
        {.name = one.name, .description = one.description, .is_required = one.required});
  }
  return out;
}

mcp::GetPromptResult prompt_result(v1::mcp::PromptResult result) {
  mcp::GetPromptResult out{.description = std::move(result.description)};
  for (v1::mcp::PromptMessage& one : result.messages) {
    out.messages.push_back(
        {.role = std::string(word_of(one.speaker)), .content = content_of(std::move(one.content))});
  }
  return out;
}

std::vector<mcp::EmbeddedResource> embedded(v1::mcp::ResourceContents contents,
                                            const std::string& uri, const std::string& mime_type) {
  std::vector<mcp::EmbeddedResource> out;
  for (v1::ResourceContent& part : contents.parts) {
    mcp::EmbeddedResource resource{
        .uri = part.uri.empty() ? uri : std::move(part.uri),
        .mime_type = part.mime_type.empty() ? mime_type : std::move(part.mime_type)};
    if (part.bytes.empty()) {
      resource.body = mcp::TextBody{std::move(part.text)};
    } else {
      resource.body = mcp::BlobBody{to_base64(part.bytes)};
    }
    out.push_back(std::move(resource));
  }
  return out;
}

mcp::InputRequest request_of(const v1::mcp::Question& question) {
  return std::visit(ToRequest(), question);
}

Error internal_error(const v1::Error& error) {
  return Error(static_cast<ErrorCode>(error.code()), std::string(error.message()))
      .pointer(error.pointer());
}

}  // namespace errand::sdk
