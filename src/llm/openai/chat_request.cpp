// Builds the request for a chat completion.
#include "base/text.hpp"
#include "llm/answer_tool.hpp"
#include "llm/file_words.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/endpoint.hpp"
#include "llm/openai/schemas.hpp"
#include "llm/tool_words.hpp"

namespace errand::llm {
namespace {

bool has_answer_tool(const TurnRequest& request, const ChatOptions& options) {
  return request.output_schema && options.output == OutputMechanism::answer_tool;
}

json::Object tool_json(const ToolDecl& tool, const ChatOptions& options) {
  return {
      {"type", "function"},
      {"function", json::Object{{"name", tool.name},
                                {"description", told_description(tool)},
                                {"parameters", parameters_of(tool, options.schema_length_max)}}}};
}

json::Object assistant_json(const Message& message) {
  json::Object out{{"role", "assistant"}, {"content", nullptr}};
  if (!message.text.empty()) out["content"] = message.text;
  json::Array calls;
  for (const ToolCallPart& call : message.calls) {
    calls.push_back(json::Object{
        {"id", wire_id(call.provider_id, call.id)},
        {"type", "function"},
        {"function", json::Object{{"name", call.name}, {"arguments", call.arguments}}}});
  }
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  return out;
}

json::Object text_json(std::string_view text) {
  return {{"type", "text"}, {"text", text}};
}

json::Object file_json(const TurnRequest& request, const FilePart& file) {
  const std::string* bytes = bytes_in(request, file);
  FileKind kind = kind_of(file);
  if (kind == FileKind::image && (bytes || !file.url.empty())) {
    std::string url = bytes ? data_url(file, *bytes) : file.url;
    return {{"type", "image_url"}, {"image_url", json::Object{{"url", std::move(url)}}}};
  }
  if (kind == FileKind::pdf && bytes) {
    return {
        {"type", "file"},
        {"file", json::Object{{"filename", file.filename}, {"file_data", data_url(file, *bytes)}}}};
  }
  if (kind == FileKind::text && bytes) return text_json(told_text(file, *bytes));
  return text_json(note_on(request, file));
}

// In this format, results can only be text, so their files follow in a user message.
void append_result_files(json::Array& out, const TurnRequest& request, const Message& message) {
  json::Array parts;
  for (const ToolResultPart& result : message.results) {
    if (result.files.empty()) continue;
    parts.push_back(text_json(files_heading(result)));
    for (const FilePart& file : result.files) parts.push_back(file_json(request, file));
  }
  if (parts.empty()) return;
  out.push_back(json::Object{{"role", "user"}, {"content", std::move(parts)}});
}

json::Value content_json(const TurnRequest& request, const Message& message) {
  if (message.files.empty()) return json::Value(message.text);
  json::Array parts;
  if (!message.text.empty()) parts.push_back(text_json(message.text));
  for (const FilePart& file : message.files) parts.push_back(file_json(request, file));
  return parts;
}

void append_message(json::Array& out, const TurnRequest& request, const Message& message,
                    const ChatOptions& options) {
  for (const ToolResultPart& result : message.results) {
    out.push_back(json::Object{{"role", "tool"},
                               {"tool_call_id", wire_id(result.provider_id, result.id)},
                               {"content", result_text(result)}});
  }
  append_result_files(out, request, message);
  if (message.role == Role::assistant && !message.calls.empty()) {
    out.push_back(assistant_json(message));
  } else if (!message.text.empty() || !message.files.empty()) {
    std::string_view role =
        message.role == Role::system ? options.system_role : to_string(message.role);
    out.push_back(json::Object{{"role", role}, {"content", content_json(request, message)}});
  }
}

json::Array messages_json(const TurnRequest& request, const ChatOptions& options) {
  json::Array out;
  bool tells_schema = request.output_schema && options.output == OutputMechanism::plain;
  std::string prompt = tells_schema ? prompt_with_schema(request) : *request.system_prompt;
  if (!prompt.empty()) {
    out.push_back(json::Object{{"role", options.system_role}, {"content", prompt}});
  }
  for (const MessagePtr& message : request.messages)
    append_message(out, request, *message, options);
  return out;
}

void add_tools(json::Object& body, const TurnRequest& request, const ChatOptions& options) {
  json::Array tools;
  for (const ToolDecl& tool : *request.tools) tools.push_back(tool_json(tool, options));
  if (has_answer_tool(request, options)) {
    ToolDecl answer = answer_tool(request);
    tools.push_back(tool_json(answer, options));
    body["tool_choice"] = "required";
    if (request.tools_off) {
      body["tool_choice"] =
          json::Object{{"type", "function"}, {"function", {{"name", answer.name}}}};
    }
  } else if (request.tools_off && !tools.empty()) {
    body["tool_choice"] = "none";
  }
  if (!tools.empty()) body["tools"] = std::move(tools);
}

// Some servers cannot combine a forced JSON answer with tools.
bool holds_to_json(const TurnRequest& request) {
  return request.is_json && (request.tools->empty() || request.tools_off);
}

void add_output(json::Object& body, const TurnRequest& request, const ChatOptions& options) {
  if (holds_to_json(request)) body["response_format"] = json::Object{{"type", "json_object"}};
  if (!request.output_schema || options.output != OutputMechanism::native) return;
  body["response_format"] = json::Object{
      {"type", "json_schema"},
      {"json_schema", json::Object{{"name", request.output_name},
                                   {"schema", *request.output_schema},
                                   {"strict", fits_strict_subset(*request.output_schema)}}}};
}

}  // namespace

ProviderRequest ChatProvider::build(const TurnRequest& request) const {
  json::Object body{{"model", options_.model}, {"messages", messages_json(request, options_)}};
  add_tools(body, request, options_);
  add_output(body, request, options_);
  auto limit = request.output_tokens_max ? request.output_tokens_max : options_.output_tokens_max;
  if (limit) body[options_.limit_field] = *limit;
  if (request.reasoning_level && !options_.effort_min.empty()) {
    body["reasoning_effort"] = effort_of(*request.reasoning_level, options_.effort_min);
  }
  body["stream"] = true;
  if (options_.asks_for_usage) body["stream_options"] = json::Object{{"include_usage", true}};
  ProviderRequest built = openai_request(options_.path, options_.api_key, options_.headers, body);
  built.holds_to_json = holds_to_json(request);
  return built;
}

ProviderProbe ChatProvider::probe() const {
  ProviderProbe out =
      openai_probe(options_.path, "/chat/completions", options_.model, options_.models_path);
  add_openai_headers(out.headers, options_.api_key, options_.headers);
  return out;
}

}  // namespace errand::llm
