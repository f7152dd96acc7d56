// Builds the request for a response.
#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/answer_tool.hpp"
#include "llm/file_words.hpp"
#include "llm/members.hpp"
#include "llm/openai/endpoint.hpp"
#include "llm/openai/responses_provider.hpp"
#include "llm/openai/schemas.hpp"
#include "llm/provider_block.hpp"
#include "llm/tool_words.hpp"

namespace errand::llm {
namespace {

json::Object tool_json(const ToolDecl& tool) {
  // Not strict, because strict mode rejects many schemas: the run itself checks the arguments.
  return {{"type", "function"},
          {"name", tool.name},
          {"description", told_description(tool)},
          {"parameters", parameters_of(tool)},
          {"strict", false}};
}

json::Object text_part(std::string_view text) {
  return {{"type", "input_text"}, {"text", text}};
}

json::Object file_item(const TurnRequest& request, const FilePart& file) {
  const std::string* bytes = bytes_in(request, file);
  bool is_given = bytes || !file.url.empty();
  FileKind kind = kind_of(file);
  if (kind == FileKind::image && is_given) {
    return {{"type", "input_image"}, {"image_url", bytes ? data_url(file, *bytes) : file.url}};
  }
  if (kind == FileKind::pdf && bytes) {
    return {
        {"type", "input_file"}, {"filename", file.filename}, {"file_data", data_url(file, *bytes)}};
  }
  if (kind == FileKind::pdf && is_given) return {{"type", "input_file"}, {"file_url", file.url}};
  if (kind == FileKind::text && bytes) return text_part(told_text(file, *bytes));
  return text_part(note_on(request, file));
}

// Plain text, or a list of parts if there are files.
json::Value content_json(const TurnRequest& request, std::string_view text,
                         const std::vector<FilePart>& files) {
  if (files.empty()) return json::Value(text);
  json::Array parts;
  if (!text.empty()) parts.push_back(text_part(text));
  for (const FilePart& file : files) parts.push_back(file_item(request, file));
  return parts;
}

// Builds the items of the conversation.
class InputItems final {
 public:
  InputItems(const TurnRequest& request, BlockOrigin origin)
      : request_(request), origin_(std::move(origin)) {}

  void add(const Message& message) {
    for (const ToolResultPart& result : message.results) add_result(result);
    if (message.role != Role::assistant) {
      if (!message.text.empty() || !message.files.empty()) {
        items_.push_back(
            json::Object{{"role", to_string(message.role)},
                         {"content", content_json(request_, message.text, message.files)}});
      }
      return;
    }
    turn_start_ = items_.size();
    if (!add_blocks(message)) add_neutral(message);
  }

  json::Array take() { return std::move(items_); }

 private:
  bool add_blocks(const Message& message) {
    auto blocks = own_blocks(origin_, message);
    if (!blocks) return false;
    for (std::string_view block : *blocks) {
      auto item = parse_object(block);
      if (!item) {
        items_.resize(turn_start_);
        return false;
      }
      items_.push_back(std::move(*item));
    }
    // The vendor rejects reasoning without the item that it led to.
    while (items_.size() > turn_start_ &&
           text_at(&items_.back().as_object(), "type") == "reasoning") {
      items_.pop_back();
    }
    return items_.size() > turn_start_;
  }

  void add_neutral(const Message& message) {
    if (!message.text.empty()) {
      json::Object part{{"type", "output_text"}, {"text", message.text}};
      items_.push_back(json::Object{{"role", "assistant"}, {"content", json::Array{part}}});
    }
    for (const ToolCallPart& call : message.calls) {
      items_.push_back(json::Object{{"type", "function_call"},
                                    {"call_id", wire_id(call.provider_id, call.id)},
                                    {"name", call.name},
                                    {"arguments", call.arguments}});
    }
  }

  void add_result(const ToolResultPart& result) {
    std::string_view id = wire_id(result.provider_id, result.id);
    json::Object item{{"type", "function_call_output"},
                      {"call_id", id},
                      {"output", content_json(request_, result_text(result), result.files)}};
    const json::Object* call = find_call(id);
    for (std::string_view key : {"namespace", "caller"}) {
      const json::Value* value = call ? call->if_contains(key) : nullptr;
      if (value && !value->is_null()) item[key] = *value;
    }
    items_.push_back(std::move(item));
  }

  // The call of the last turn that has this id.
  const json::Object* find_call(std::string_view id) const {
    for (std::size_t i = turn_start_; i < items_.size(); ++i) {
      const json::Object& item = items_[i].as_object();
      if (text_at(&item, "type") == "function_call" && text_at(&item, "call_id") == id) {
        return &item;
      }
    }
    return nullptr;
  }

  const TurnRequest& request_;
  const BlockOrigin origin_;
  json::Array items_;
  std::size_t turn_start_ = 0;
};

void add_tools(json::Object& body, const TurnRequest& request, OutputMechanism output) {
  json::Array tools;
  for (const ToolDecl& tool : *request.tools) tools.push_back(tool_json(tool));
  if (request.output_schema && output == OutputMechanism::answer_tool) {
    ToolDecl answer = answer_tool(request);
    tools.push_back(tool_json(answer));
    body["tool_choice"] = "required";
    if (request.tools_off) {
      body["tool_choice"] = json::Object{{"type", "function"}, {"name", answer.name}};
    }
  } else if (request.tools_off && !tools.empty()) {
    body["tool_choice"] = "none";
  }
  if (!tools.empty()) body["tools"] = std::move(tools);
}

void add_output(json::Object& body, const TurnRequest& request, OutputMechanism output) {
  if (!request.output_schema || output != OutputMechanism::native) return;
  json::Object format{{"type", "json_schema"},
                      {"name", request.output_name},
                      {"schema", *request.output_schema},
                      {"strict", fits_strict_subset(*request.output_schema)}};
  body["text"] = json::Object{{"format", std::move(format)}};
}

void add_reasoning(json::Object& body, const TurnRequest& request, std::string_view effort_min) {
  if (!request.reasoning_level || effort_min.empty()) return;
  json::Object reasoning{{"effort", effort_of(*request.reasoning_level, effort_min)}};
  if (*request.reasoning_level > 0) reasoning["summary"] = "auto";
  body["reasoning"] = std::move(reasoning);
}

}  // namespace

ProviderRequest ResponsesProvider::build(const TurnRequest& request) const {
  InputItems items(request, {.provider = options_.origin, .model = options_.model});
  for (const MessagePtr& message : request.messages) items.add(*message);
  json::Object body{{"model", options_.model}, {"input", items.take()}};
  bool tells_schema = request.output_schema && options_.output == OutputMechanism::plain;
  std::string prompt = tells_schema ? prompt_with_schema(request) : *request.system_prompt;
  if (!prompt.empty()) body["instructions"] = prompt;
  add_tools(body, request, options_.output);
  add_output(body, request, options_.output);
  add_reasoning(body, request, options_.effort_min);
  auto limit = request.output_tokens_max ? request.output_tokens_max : options_.output_tokens_max;
  if (limit) body["max_output_tokens"] = *limit;
  body["store"] = false;
  body["include"] = json::Array{"reasoning.encrypted_content"};
  body["stream"] = true;
  std::string text;
  json::write(text, body);
  return openai_request(options_.path, options_.api_key, options_.headers, std::move(text));
}

ProviderProbe ResponsesProvider::probe() const {
  ProviderProbe out =
      openai_probe(options_.path, "/responses", options_.model, options_.models_path);
  add_openai_headers(out.headers, options_.api_key, options_.headers);
  return out;
}

}  // namespace errand::llm
