// Builds the request for a message.
#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/anthropic/anthropic_provider.hpp"
#include "llm/anthropic/wire.hpp"
#include "llm/file_words.hpp"
#include "llm/members.hpp"
#include "llm/provider_block.hpp"
#include "llm/tool_words.hpp"

namespace errand::llm {
namespace {

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_thought(const json::Object& block) {
  std::string_view type = text_at(&block, "type");
  return type == "thinking" || type == "redacted_thinking";
}

// The vendor accepts only ids of [A-Za-z0-9_-]. Other vendors' ids may have more characters.
std::string_view wire_id(std::string_view provider_id, const ToolUseId& id) {
  bool is_taken = !provider_id.empty() && provider_id.find_first_not_of(
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                              "0123456789_-") == std::string_view::npos;
  return is_taken ? provider_id : id.view();
}

json::Object text_json(std::string_view text) {
  return {{"type", "text"}, {"text", text}};
}

json::Object document_json(const FilePart& file, json::Object source) {
  json::Object out{{"type", "document"}, {"source", std::move(source)}};
  if (!file.filename.empty()) out["title"] = file.filename;
  return out;
}

json::Object file_json(const TurnRequest& request, const FilePart& file) {
  const std::string* bytes = bytes_in(request, file);
  FileKind kind = kind_of(file);
  if (kind == FileKind::text && bytes && !is_blank(*bytes)) {
    return document_json(file, {{"type", "text"}, {"media_type", "text/plain"}, {"data", *bytes}});
  }
  bool is_taken = kind == FileKind::image || kind == FileKind::pdf;
  if (!is_taken || (!bytes && file.url.empty())) return text_json(note_on(request, file));
  json::Object source{{"type", "url"}, {"url", file.url}};
  if (bytes) {
    source = {{"type", "base64"}, {"media_type", file.mime_type}, {"data", to_base64(*bytes)}};
  }
  if (kind == FileKind::pdf) return document_json(file, std::move(source));
  return {{"type", "image"}, {"source", std::move(source)}};
}

// Builds the messages. Consecutive messages of one role become one message, with results first.
class Messages final {
 public:
  Messages(const TurnRequest& request, BlockOrigin origin)
      : request_(request), origin_(std::move(origin)) {}

  void add(const Message& message) {
    if (message.role == Role::system) return;
    json::Array blocks = message.role == Role::user ? user_blocks(message) : turn_blocks(message);
    if (message.role == Role::assistant) {
      calls_without_thought_ =
          !message.calls.empty() && !(!blocks.empty() && is_thought(blocks[0].as_object()));
    }
    if (blocks.empty()) return;
    std::string_view role = to_string(message.role);
    bool goes_on = !messages_.empty() && text_at(&messages_.back().as_object(), "role") == role;
    if (!goes_on) {
      messages_.push_back(json::Object{{"role", role}, {"content", std::move(blocks)}});
      return;
    }
    json::Array& content = messages_.back().as_object()["content"].as_array();
    for (json::Value& block : blocks) content.push_back(std::move(block));
  }

  json::Array take() { return std::move(messages_); }
  // Whether the last turn called tools without thinking blocks of this model. Until the model has
  // answered the results of these calls, the vendor rejects a thinking budget.
  bool calls_without_thought() const { return calls_without_thought_; }

 private:
  json::Array user_blocks(const Message& message) const {
    json::Array out;
    for (const ToolResultPart& result : message.results) {
      json::Object block{{"type", "tool_result"},
                         {"tool_use_id", wire_id(result.provider_id, result.id)}};
      if (!result.text.empty()) block["content"] = result.text;
      if (!result.files.empty()) block["content"] = blocks_with_files(result.text, result.files);
      if (!result.ok) block["is_error"] = true;
      out.push_back(std::move(block));
    }
    for (json::Value& block : blocks_with_files(message.text, message.files)) {
      out.push_back(std::move(block));
    }
    return out;
  }

  json::Array blocks_with_files(std::string_view text, const std::vector<FilePart>& files) const {
    json::Array out;
    if (!is_blank(text)) out.push_back(text_json(text));
    for (const FilePart& file : files) out.push_back(file_json(request_, file));
    return out;
  }

  json::Array turn_blocks(const Message& message) const {
    json::Array out;
    auto blocks = own_blocks(origin_, message);
    if (!blocks) return neutral_blocks(message);
    for (std::string_view text : *blocks) {
      auto block = parse_object(text);
      if (!block) return neutral_blocks(message);
      out.push_back(std::move(*block));
    }
    // A turn may not end with a thinking block.
    while (!out.empty() && is_thought(out.back().as_object())) out.pop_back();
    return out;
  }

  static json::Array neutral_blocks(const Message& message) {
    json::Array out;
    if (!is_blank(message.text)) {
      out.push_back(text_json(message.text));
    }
    for (const ToolCallPart& call : message.calls) {
      out.push_back(json::Object{{"type", "tool_use"},
                                 {"id", wire_id(call.provider_id, call.id)},
                                 {"name", call.name},
                                 {"input", parse_object(call.arguments).value_or(json::Object())}});
    }
    return out;
  }

  const TurnRequest& request_;
  const BlockOrigin origin_;
  json::Array messages_;
  bool calls_without_thought_ = false;
};

std::string system_text(const TurnRequest& request, const AnthropicOptions& options) {
  bool tells_schema = request.output_schema && options.output == OutputMechanism::plain;
  std::string out = tells_schema ? prompt_with_schema(request) : *request.system_prompt;
  for (const MessagePtr& message : request.messages) {
    if (message->role != Role::system || is_blank(message->text)) continue;
    append(out, out.empty() ? "" : "\n\n", message->text);
  }
  return out;
}

json::Object tool_json(const ToolDecl& tool) {
  json::Object schema = flat_input_schema(tool);
  if (!schema.contains("type")) schema["type"] = "object";
  return {{"name", tool.name},
          {"description", told_description(tool)},
          {"input_schema", std::move(schema)}};
}

enum class Thinks { no, yes };

Thinks add_thinking(json::Object& body, const TurnRequest& request, const AnthropicOptions& options,
                    bool calls_without_thought) {
  if (!request.reasoning_level || options.thinking == AnthropicThinking::none) return Thinks::no;
  int level = *request.reasoning_level;
  if (options.thinking == AnthropicThinking::adaptive) {
    if (level <= 0) {
      body["thinking"] = json::Object{{"type", "disabled"}};
      return Thinks::no;
    }
    body["thinking"] = json::Object{{"type", "adaptive"}, {"display", "summarized"}};
    body["output_config"] = json::Object{{"effort", level <= 35   ? "low"
                                                    : level <= 65 ? "medium"
                                                                  : "high"}};
    return Thinks::yes;
  }
  if (level <= 0 || calls_without_thought) return Thinks::no;
  auto budget = thinking_budget(level, body["max_tokens"].as_int64());
  if (!budget) return Thinks::no;
  body["thinking"] = json::Object{{"type", "enabled"}, {"budget_tokens", *budget}};
  return Thinks::yes;
}

void add_tools(json::Object& body, const TurnRequest& request, OutputMechanism output,
               Thinks thinks) {
  json::Array tools;
  for (const ToolDecl& tool : *request.tools) tools.push_back(tool_json(tool));
  if (request.output_schema && output == OutputMechanism::answer_tool) {
    ToolDecl answer = answer_tool(request);
    tools.push_back(tool_json(answer));
    // The vendor does not allow forcing a thinking model to call a tool.
    bool is_only_one = request.tools->empty() || request.tools_off;
    if (thinks == Thinks::no && is_only_one) {
      body["tool_choice"] = json::Object{{"type", "tool"}, {"name", answer.name}};
    } else if (thinks == Thinks::no) {
      body["tool_choice"] = json::Object{{"type", "any"}};
    }
  } else if (request.tools_off && !tools.empty()) {
    body["tool_choice"] = json::Object{{"type", "none"}};
  }
  if (!tools.empty()) body["tools"] = std::move(tools);
}

void add_output(json::Object& body, const TurnRequest& request, OutputMechanism output) {
  if (!request.output_schema || output != OutputMechanism::native) return;
  if (!body.contains("output_config")) body["output_config"] = json::Object();
  body["output_config"].as_object()["format"] =
      json::Object{{"type", "json_schema"}, {"schema", *request.output_schema}};
}

void add_own_headers(HeaderList& headers, const AnthropicOptions& options) {
  headers.emplace_back("anthropic-version", options.version);
  if (!options.api_key.empty()) headers.emplace_back("x-api-key", options.api_key);
  headers.insert(headers.end(), options.headers.begin(), options.headers.end());
}

}  // namespace

OutputMechanism AnthropicProvider::output_mechanism(const TurnRequest& request) const {
  return anthropic_output(request, options_);
}

ProviderRequest AnthropicProvider::build(const TurnRequest& request) const {
  Messages messages(request, {.provider = kAnthropicOrigin, .model = options_.model});
  for (const MessagePtr& message : request.messages) messages.add(*message);
  json::Object body{{"model", options_.model},
                    {"max_tokens", request.output_tokens_max.value_or(options_.output_tokens_max)}};
  if (std::string system = system_text(request, options_); !system.empty()) {
    body["system"] = std::move(system);
  }
  body["messages"] = messages.take();
  OutputMechanism output = anthropic_output(request, options_);
  Thinks thinks = add_thinking(body, request, options_, messages.calls_without_thought());
  add_tools(body, request, output, thinks);
  add_output(body, request, output);
  body["stream"] = true;

  ProviderRequest out{
      .path = options_.path,
      .headers = {{"content-type", "application/json"}, {"accept", "text/event-stream"}}};
  add_own_headers(out.headers, options_);
  json::write(out.body, body);
  return out;
}

ProviderProbe AnthropicProvider::probe() const {
  ProviderProbe out{.path = cat("/v1/models/", percent_encode(options_.model))};
  add_own_headers(out.headers, options_);
  return out;
}

}  // namespace errand::llm
