// Builds the request for generated content.
#include <algorithm>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/file_words.hpp"
#include "llm/gemini/gemini_provider.hpp"
#include "llm/gemini/wire.hpp"
#include "llm/members.hpp"
#include "llm/provider_block.hpp"

namespace errand::llm {
namespace {

// The vendor accepts more types than other vendors do, but no GIF.
bool is_taken(const FilePart& file) {
  std::string_view type = file.mime_type;
  return type == "image/png" || type == "image/jpeg" || type == "image/webp" ||
         type == "image/heic" || type == "image/heif" || type == "application/pdf" ||
         type.starts_with("text/") || type.starts_with("audio/") || type.starts_with("video/");
}

json::Object file_json(const TurnRequest& request, const FilePart& file) {
  const std::string* bytes = bytes_in(request, file);
  if (bytes && is_taken(file)) {
    return {
        {"inlineData", json::Object{{"mimeType", file.mime_type}, {"data", to_base64(*bytes)}}}};
  }
  if (bytes && kind_of(file) == FileKind::text) return {{"text", told_text(file, *bytes)}};
  bool is_untyped = file.mime_type.empty() && kind_of(file) != FileKind::other;
  if (!file.url.empty() && (is_taken(file) || is_untyped)) {
    json::Object data{{"fileUri", file.url}};
    if (!file.mime_type.empty()) data["mimeType"] = file.mime_type;
    return {{"fileData", std::move(data)}};
  }
  return {{"text", note_on(request, file)}};
}

// Builds the contents of the request.
class Contents final {
 public:
  Contents(const TurnRequest& request, const GeminiOptions& options)
      : request_(request),
        origin_{.provider = kGeminiOrigin, .model = options.model},
        unsigned_call_signature_(options.unsigned_call_signature) {}

  void add(const Message& message) {
    if (message.role == Role::system) return;
    bool is_turn = message.role == Role::assistant;
    json::Array parts = is_turn ? turn_parts(message) : user_parts(message);
    if (is_turn) sign_first_call(parts);
    add_content(is_turn ? "model" : "user", std::move(parts));
    // Function responses go into a content of their own, and their files into the next one.
    add_content("user", result_files(message));
  }

  json::Array take() { return std::move(contents_); }

 private:
  void add_content(std::string_view role, json::Array parts) {
    if (parts.empty()) return;
    contents_.push_back(json::Object{{"role", role}, {"parts", std::move(parts)}});
  }

  json::Array result_files(const Message& message) const {
    json::Array out;
    for (const ToolResultPart& result : message.results) {
      if (result.files.empty()) continue;
      out.push_back(json::Object{{"text", files_heading(result)}});
      for (const FilePart& file : result.files) out.push_back(file_json(request_, file));
    }
    return out;
  }

  json::Array user_parts(const Message& message) const {
    json::Array out;
    for (const ToolResultPart& result : message.results) {
      json::Object response{
          {"name", result.name},
          {"response", json::Object{{result.ok ? "output" : "error", json::Value(result.text)}}}};
      if (has_ids_ && !result.provider_id.empty()) response["id"] = result.provider_id;
      out.push_back(json::Object{{"functionResponse", std::move(response)}});
    }
    if (!message.text.empty()) out.push_back(json::Object{{"text", message.text}});
    for (const FilePart& file : message.files) out.push_back(file_json(request_, file));
    return out;
  }

  json::Array turn_parts(const Message& message) {
    has_ids_ = true;
    json::Array out;
    auto blocks = own_blocks(origin_, message);
    if (!blocks) return neutral_parts(message);
    for (std::string_view text : *blocks) {
      auto part = parse_object(text);
      if (!part) return neutral_parts(message);
      out.push_back(std::move(*part));
    }
    return out;
  }

  json::Array neutral_parts(const Message& message) {
    has_ids_ = false;
    json::Array out;
    if (!message.text.empty()) out.push_back(json::Object{{"text", message.text}});
    for (const ToolCallPart& call : message.calls) {
      json::Object function{{"name", call.name},
                            {"args", parse_object(call.arguments).value_or(json::Object())}};
      out.push_back(json::Object{{"functionCall", std::move(function)}});
    }
    return out;
  }

  void sign_first_call(json::Array& parts) const {
    if (unsigned_call_signature_.empty()) return;
    for (json::Value& part : parts) {
      json::Object& object = part.as_object();
      if (!object.contains("functionCall")) continue;
      if (!object.contains("thoughtSignature")) {
        object["thoughtSignature"] = unsigned_call_signature_;
      }
      return;
    }
  }

  const TurnRequest& request_;
  const BlockOrigin origin_;
  const std::string unsigned_call_signature_;
  json::Array contents_;
  bool has_ids_ = false;  // the last turn's calls were sent with the vendor's ids
};

std::string system_text(const TurnRequest& request, const GeminiOptions& options) {
  bool tells_schema = request.output_schema && options.output == OutputMechanism::plain;
  std::string out = tells_schema ? prompt_with_schema(request) : *request.system_prompt;
  for (const MessagePtr& message : request.messages) {
    if (message->role != Role::system || message->text.empty()) continue;
    append(out, out.empty() ? "" : "\n\n", message->text);
  }
  return out;
}

json::Object tool_json(const ToolDecl& tool) {
  json::Object out{{"name", tool.name}, {"description", tool.description}};
  // A function without arguments is sent without parameters.
  const json::Object* properties = object_at(&*tool.input_schema, "properties");
  bool has_arguments = tool.input_schema->contains("$ref") || (properties && !properties->empty());
  if (has_arguments) out["parametersJsonSchema"] = *tool.input_schema;
  if (tool.output_schema) out["responseJsonSchema"] = *tool.output_schema;
  return out;
}

void add_tools(json::Object& body, const TurnRequest& request, OutputMechanism output) {
  json::Array tools;
  for (const ToolDecl& tool : *request.tools) tools.push_back(tool_json(tool));
  if (request.output_schema && output == OutputMechanism::answer_tool) {
    ToolDecl answer = answer_tool(request);
    tools.push_back(tool_json(answer));
    json::Object config{{"mode", "ANY"}};
    if (request.tools_off) config["allowedFunctionNames"] = json::Array{answer.name};
    body["toolConfig"] = json::Object{{"functionCallingConfig", std::move(config)}};
  } else if (request.tools_off && !tools.empty()) {
    body["toolConfig"] = json::Object{{"functionCallingConfig", json::Object{{"mode", "NONE"}}}};
  }
  if (tools.empty()) return;
  json::Object declarations{{"functionDeclarations", std::move(tools)}};
  body["tools"] = json::Array{std::move(declarations)};
}

void add_thinking(json::Object& config, const TurnRequest& request, const GeminiOptions& options) {
  if (!request.reasoning_level || options.thinking == GeminiThinking::none) return;
  int level = *request.reasoning_level;
  json::Object thinking{{"includeThoughts", level > 0}};
  if (options.thinking == GeminiThinking::budget) {
    std::int64_t budget = kGeminiThinkingTokensMax * std::clamp(level, 0, 100) / 100;
    thinking["thinkingBudget"] = std::max(budget, options.thinking_budget_min);
  } else {
    thinking["thinkingLevel"] = level <= 0    ? std::string_view(options.thinking_level_min)
                                : level <= 35 ? "LOW"
                                : level <= 65 ? "MEDIUM"
                                              : "HIGH";
  }
  config["thinkingConfig"] = std::move(thinking);
}

json::Object generation_config(const TurnRequest& request, const GeminiOptions& options,
                               OutputMechanism output) {
  json::Object config;
  auto limit = request.output_tokens_max ? request.output_tokens_max : options.output_tokens_max;
  if (limit) config["maxOutputTokens"] = *limit;
  add_thinking(config, request, options);
  if (request.output_schema && output == OutputMechanism::native) {
    config["responseMimeType"] = "application/json";
    config["responseJsonSchema"] = *request.output_schema;
  }
  return config;
}

void add_own_headers(HeaderList& headers, const GeminiOptions& options) {
  if (!options.api_key.empty()) headers.emplace_back("x-goog-api-key", options.api_key);
  headers.insert(headers.end(), options.headers.begin(), options.headers.end());
}

}  // namespace

OutputMechanism GeminiProvider::output_mechanism(const TurnRequest& request) const {
  return gemini_output(request, options_);
}

ProviderRequest GeminiProvider::build(const TurnRequest& request) const {
  Contents contents(request, options_);
  for (const MessagePtr& message : request.messages) contents.add(*message);
  json::Object body{{"contents", contents.take()}};
  if (std::string system = system_text(request, options_); !system.empty()) {
    json::Object part{{"text", std::move(system)}};
    body["systemInstruction"] = json::Object{{"parts", json::Array{std::move(part)}}};
  }
  OutputMechanism output = gemini_output(request, options_);
  add_tools(body, request, output);
  json::Object config = generation_config(request, options_, output);
  if (!config.empty()) body["generationConfig"] = std::move(config);

  ProviderRequest out{
      .path = cat(options_.models_path, percent_encode(options_.model),
                  ":streamGenerateContent?alt=sse"),
      .headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}}};
  add_own_headers(out.headers, options_);
  json::write(out.body, body);
  return out;
}

ProviderProbe GeminiProvider::probe() const {
  ProviderProbe out{.path = cat(options_.models_path, percent_encode(options_.model))};
  add_own_headers(out.headers, options_);
  return out;
}

}  // namespace errand::llm
