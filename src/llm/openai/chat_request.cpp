// Builds the request for a chat completion.
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/file_words.hpp"
#include "llm/openai/chat_provider.hpp"
#include "llm/openai/endpoint.hpp"
#include "llm/openai/schemas.hpp"
#include "llm/tool_words.hpp"

namespace errand::llm {
namespace {

constexpr std::size_t kOtherBytes = 1024;  // of a request besides its messages, as a rule

bool has_answer_tool(const TurnRequest& request, const ChatOptions& options) {
  return request.output_schema && options.output == OutputMechanism::answer_tool;
}

// The text of an array, item by item. The whole question is written as text at once: most of it is
// sent again with every turn.
class Items final {
 public:
  explicit Items(std::size_t bytes = 0) { text_.reserve(bytes); }

  // Where the next item is to be written.
  std::string& next() {
    text_.push_back(is_empty() ? '[' : ',');
    return text_;
  }
  bool is_empty() const { return text_.empty(); }
  // The array; the items are gone then.
  std::string take() {
    text_ += is_empty() ? "[]" : "]";
    return std::move(text_);
  }

 private:
  std::string text_;
};

void write_tool(std::string& out, const ToolDecl& tool, const ChatOptions& options) {
  std::string function;
  json::ObjectWriter about(function);
  about.field("name", tool.name).field("description", told_description(tool));
  if (!options.schema_length_max && is_sent_as_it_is(*tool.input_schema)) {
    about.field("parameters", *tool.input_schema);
  } else {
    about.field("parameters", parameters_of(tool, options.schema_length_max));
  }
  about.end();
  json::ObjectWriter(out).field("type", "function").raw("function", function).end();
}

void write_call(std::string& out, const ToolCallPart& call) {
  std::string function;
  json::ObjectWriter(function).field("name", call.name).field("arguments", call.arguments).end();
  json::ObjectWriter(out)
      .field("id", wire_id(call.provider_id, call.id))
      .field("type", "function")
      .raw("function", function)
      .end();
}

void write_calling(std::string& out, const Message& message) {
  Items calls;
  for (const ToolCallPart& call : message.calls) write_call(calls.next(), call);
  json::ObjectWriter writer(out);
  writer.field("role", "assistant");
  if (message.text.empty()) {
    writer.raw("content", "null");
  } else {
    writer.field("content", message.text);
  }
  writer.raw("tool_calls", calls.take()).end();
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
void write_result_files(Items& out, const TurnRequest& request, const Message& message) {
  json::Array parts;
  for (const ToolResultPart& result : message.results) {
    if (result.files.empty()) continue;
    parts.push_back(text_json(files_heading(result)));
    for (const FilePart& file : result.files) parts.push_back(file_json(request, file));
  }
  if (parts.empty()) return;
  json::ObjectWriter(out.next())
      .field("role", "user")
      .field("content", json::Value(std::move(parts)))
      .end();
}

json::Value parts_json(const TurnRequest& request, const Message& message) {
  json::Array parts;
  if (!message.text.empty()) parts.push_back(text_json(message.text));
  for (const FilePart& file : message.files) parts.push_back(file_json(request, file));
  return parts;
}

void write_said(std::string& out, const TurnRequest& request, const Message& message,
                const ChatOptions& options) {
  json::ObjectWriter writer(out);
  writer.field("role",
               message.role == Role::system ? options.system_role : to_string(message.role));
  if (message.files.empty()) {
    writer.field("content", message.text);
  } else {
    writer.field("content", parts_json(request, message));
  }
  writer.end();
}

void write_message(Items& out, const TurnRequest& request, const Message& message,
                   const ChatOptions& options) {
  for (const ToolResultPart& result : message.results) {
    json::ObjectWriter(out.next())
        .field("role", "tool")
        .field("tool_call_id", wire_id(result.provider_id, result.id))
        .field("content", result_text(result))
        .end();
  }
  write_result_files(out, request, message);
  if (message.role == Role::assistant && !message.calls.empty()) {
    write_calling(out.next(), message);
  } else if (!message.text.empty() || !message.files.empty()) {
    write_said(out.next(), request, message, options);
  }
}

std::string messages_text(const TurnRequest& request, const ChatOptions& options) {
  Items out(rough_bytes(request));
  bool tells_schema = request.output_schema && options.output == OutputMechanism::plain;
  std::string prompt = tells_schema ? prompt_with_schema(request) : *request.system_prompt;
  if (!prompt.empty()) {
    json::ObjectWriter(out.next())
        .field("role", options.system_role)
        .field("content", prompt)
        .end();
  }
  for (const MessagePtr& message : request.messages) {
    write_message(out, request, *message, options);
  }
  return out.take();
}

void add_tools(json::ObjectWriter& body, const TurnRequest& request, const ChatOptions& options) {
  Items tools;
  for (const ToolDecl& tool : *request.tools) write_tool(tools.next(), tool, options);
  if (has_answer_tool(request, options)) {
    ToolDecl answer = answer_tool(request);
    write_tool(tools.next(), answer, options);
    if (request.tools_off) {
      body.field("tool_choice",
                 json::Object{{"type", "function"}, {"function", {{"name", answer.name}}}});
    } else {
      body.field("tool_choice", "required");
    }
  } else if (request.tools_off && !tools.is_empty()) {
    body.field("tool_choice", "none");
  }
  if (!tools.is_empty()) body.raw("tools", tools.take());
}

// Some servers cannot combine a forced JSON answer with tools.
bool holds_to_json(const TurnRequest& request) {
  return request.is_json && (request.tools->empty() || request.tools_off);
}

void add_output(json::ObjectWriter& body, const TurnRequest& request, const ChatOptions& options) {
  if (request.output_schema && options.output == OutputMechanism::native) {
    body.field(
        "response_format",
        json::Object{
            {"type", "json_schema"},
            {"json_schema", json::Object{{"name", request.output_name},
                                         {"schema", *request.output_schema},
                                         {"strict", fits_strict_subset(*request.output_schema)}}}});
  } else if (holds_to_json(request)) {
    body.field("response_format", json::Object{{"type", "json_object"}});
  }
}

}  // namespace

ProviderRequest ChatProvider::build(const TurnRequest& request) const {
  const std::string messages = messages_text(request, options_);
  std::string text;
  text.reserve(messages.size() + kOtherBytes);
  json::ObjectWriter body(text);
  body.field("model", options_.model).raw("messages", messages);
  add_tools(body, request, options_);
  add_output(body, request, options_);
  auto limit = request.output_tokens_max ? request.output_tokens_max : options_.output_tokens_max;
  if (limit) body.field(options_.limit_field, *limit);
  if (request.reasoning_level && !options_.effort_min.empty()) {
    body.field("reasoning_effort", effort_of(*request.reasoning_level, options_.effort_min));
  }
  body.field("stream", true);
  if (options_.asks_for_usage) body.field("stream_options", json::Object{{"include_usage", true}});
  body.end();
  ProviderRequest built =
      openai_request(options_.path, options_.api_key, options_.headers, std::move(text));
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
