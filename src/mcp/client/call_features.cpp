#include "mcp/client/call_features.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/schema_cache.hpp"
#include "run/elicitation.hpp"

namespace errand::mcp {
namespace {

// Adds a part to the question to the model. A part that the model cannot take is named instead.
struct AddPart {
  Message& to;

  void operator()(const TextContent& part) const { say(part.text); }
  void operator()(const ImageContent& part) const {
    auto bytes = from_base64(part.base64);
    if (!bytes || to.role != Role::user) return say(cat("[", part.mime_type, " left out]"));
    to.files.push_back({.mime_type = part.mime_type,
                        .size = static_cast<std::int64_t>(bytes->size()),
                        .bytes = std::make_shared<const std::string>(std::move(*bytes))});
  }
  void operator()(const AudioContent& part) const { say(cat("[", part.mime_type, " left out]")); }
  void operator()(const ResourceLink& part) const { say(part.uri); }
  void operator()(const EmbeddedResource& part) const {
    const auto* text = std::get_if<TextBody>(&part.body);
    say(text ? text->text : cat("[", part.uri, " left out]"));
  }
  void operator()(const UnknownContent& part) const { say(cat("[", part.type, " left out]")); }

 private:
  void say(std::string_view text) const { append(to.text, to.text.empty() ? "" : "\n", text); }
};

// The run's own model answers with the run's settings: the server's wishes for a model and a
// temperature are ignored.
ModelQuestion question_of(CreateMessageParams params) {
  ModelQuestion question{.system_prompt = std::move(params.system_prompt)};
  if (params.max_tokens > 0) question.output_tokens_max = params.max_tokens;
  for (const SamplingMessage& one : params.messages) {
    Message& message = question.messages.emplace_back();
    if (one.role == "assistant") message.role = Role::assistant;
    for (const Content& part : one.content) std::visit(AddPart{message}, part);
  }
  return question;
}

std::string stop_reason_of(std::string_view finish_reason) {
  return finish_reason == "max_tokens" ? "maxTokens" : "endTurn";
}

// Cuts the text before the first of the sequences. Returns whether there was one.
bool cut_at(std::string& text, const std::vector<std::string>& stop_sequences) {
  std::size_t end = std::string::npos;
  for (const std::string& one : stop_sequences) {
    if (!one.empty()) end = std::min(end, text.find(one));
  }
  if (end == std::string::npos) return false;
  text.resize(end);
  return true;
}

// Not every vendor supports stop sequences, so the answer is cut here.
Task<Result<CreateMessageResult>> wait_for_model(AnswerPtr<ModelAnswer> pending,
                                                 std::vector<std::string> stop_sequences) {
  auto answer = co_await PendingAnswer<ModelAnswer>::wait(std::move(pending));
  if (!answer) co_return std::move(answer).error();
  const bool is_cut = cut_at(answer->text, stop_sequences);
  co_return CreateMessageResult{
      .content = TextContent{std::move(answer->text)},
      .model = std::move(answer->model),
      .stop_reason = is_cut ? "stopSequence" : stop_reason_of(answer->finish_reason)};
}

Task<Result<ElicitResult>> wait_for_client(AnswerPtr<ToolAnswer> pending, ElicitParams asked) {
  auto answer = co_await PendingAnswer<ToolAnswer>::wait(std::move(pending));
  if (!answer) co_return std::move(answer).error();
  co_return elicit_result(asked, *answer);
}

json::Object args_of(const ElicitParams& params, std::string_view tool) {
  json::Object args{{"tool", tool}, {"message", params.message}};
  if (params.mode == ElicitParams::Mode::url) {
    args["mode"] = "url";
    args["url"] = params.url;
  } else {
    args["mode"] = "form";
    args["requestedSchema"] = params.requested_schema;
  }
  return args;
}

// Adds the form's defaults for fields that were left out.
void add_defaults(const json::Object& schema, json::Object& content) {
  const json::Object* fields = json::object_at(&schema, "properties");
  if (!fields) return;
  for (const auto& field : *fields) {
    const json::Object* about = field.value().if_object();
    const json::Value* value = about ? about->if_contains("default") : nullptr;
    if (value && !content.contains(field.key())) content[field.key()] = *value;
  }
}

// Any answer fits a form whose schema is not valid.
bool fits(const json::Object& schema, const json::Object& content) {
  json::SchemaCache once;
  auto compiled = once.get(schema);
  return !compiled || (*compiled)->validate(json::Value(content)).empty();
}

}  // namespace

ElicitResult elicit_result(const ElicitParams& asked, const ToolAnswer& answer) {
  using Action = ElicitResult::Action;
  auto said = answer.ok ? json::parse(answer.text) : Error(ErrorCode::not_found, "");
  const json::Object* fields = said ? said->if_object() : nullptr;
  std::string_view action = json::text_at(fields, "action");
  if (action == "cancel") return {.action = Action::cancel};
  if (action != "accept") return {.action = Action::decline};
  ElicitResult result{.action = Action::accept};
  if (asked.mode == ElicitParams::Mode::url) return result;
  if (const json::Object* content = json::object_at(fields, "content")) result.content = *content;
  add_defaults(asked.requested_schema, result.content);
  if (!fits(asked.requested_schema, result.content)) return {.action = Action::decline};
  return result;
}

Task<Result<CreateMessageResult>> CallFeatures::create_message(CreateMessageParams params) {
  std::vector<std::string> stop_sequences = std::move(params.stop_sequences);
  return wait_for_model(questions_.ask_model(question_of(std::move(params))),
                        std::move(stop_sequences));
}

Task<Result<ElicitResult>> CallFeatures::elicit(ElicitParams params) {
  ClientQuestion question{.name = std::string(kElicitationTool), .args = args_of(params, tool_)};
  return wait_for_client(questions_.ask_client(std::move(question)), std::move(params));
}

}  // namespace errand::mcp
