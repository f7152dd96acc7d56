#include "server/a2a/run_task.hpp"

#include <algorithm>
#include <utility>

#include "a2a/agent_outcome.hpp"
#include "a2a/server/task_backend.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/file_words.hpp"
#include "run/elicitation.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kAnswer = "answer";  // the id of the artifact with the final text

a2a::Message agent_says(std::string id, std::string text, const std::string& task_id,
                        const std::string& context_id) {
  return {.id = std::move(id),
          .role = a2a::Role::agent,
          .parts = {a2a::TextPart{std::move(text)}},
          .context_id = context_id,
          .task_id = task_id};
}

a2a::Artifact answer_of(const std::string& text, const std::optional<StructuredOutput>& output) {
  a2a::Artifact artifact{.id = std::string(kAnswer), .name = "Answer"};
  artifact.parts.emplace_back(a2a::TextPart{text});
  if (output) {
    auto value = json::parse(text);
    if (value) artifact.parts.emplace_back(a2a::DataPart{std::move(*value)});
  }
  return artifact;
}

std::string context_of(const RunRow& row) {
  return row.session.empty() ? row.id.str() : row.session.str();
}

json::Object totals_json(const RunTotals& totals) {
  return {{"mantyx", json::Object{{"tokens", to_json(totals.usage)},
                                  {"turns", totals.turns},
                                  {"model", to_json(totals.model)}}}};
}

// The message that began the task, rebuilt from the run's spec.
a2a::Message asked_by(const Spec& spec, const std::string& task_id, const std::string& context_id) {
  a2a::Message message{.id = cat(task_id, "-user"),
                       .role = a2a::Role::user,
                       .context_id = context_id,
                       .task_id = task_id};
  for (const auto& [key, value] : spec.metadata) {
    if (key == kTaskMessageKey) message.id = value;
  }
  const Message* last = spec.messages.empty() ? nullptr : &spec.messages.back();
  std::string text = spec.prompt ? *spec.prompt : (last ? last->text : std::string());
  if (!text.empty() || !last) message.parts.emplace_back(a2a::TextPart{std::move(text)});
  for (const FilePart& file : last ? last->files : std::vector<FilePart>()) {
    message.parts.emplace_back(
        a2a::FilePart{.name = file.filename, .mime_type = file.mime_type, .url = file.url});
  }
  return message;
}

// The question to the client, which a run stores as the arguments of a call.
json::Object asked_in(const engine::PendingCall& question) {
  const json::Object request = parse_mail_request(question.box.request);
  const json::Object* args = json::object_at(&request, "args");
  return args ? *args : json::Object();
}

// The question in words, and as data for clients that can show a form.
a2a::Message question_message(const engine::PendingCall& question, const std::string& task_id,
                              const std::string& context_id) {
  json::Object asked = asked_in(question);
  std::string text(json::text_at(&asked, "message"));
  if (std::string_view url = json::text_at(&asked, "url"); !url.empty()) append(text, "\n", url);
  a2a::Message message = agent_says(question.box.slot, std::move(text), task_id, context_id);
  message.parts.emplace_back(a2a::DataPart{json::Value(std::move(asked))});
  return message;
}

a2a::TaskState state_of(RunStatus status) {
  switch (status) {
    case RunStatus::queued: return a2a::TaskState::submitted;
    case RunStatus::running:
    case RunStatus::waiting: return a2a::TaskState::working;
    case RunStatus::succeeded: return a2a::TaskState::completed;
    case RunStatus::failed: return a2a::TaskState::failed;
    case RunStatus::cancelled: return a2a::TaskState::canceled;
  }
  return a2a::TaskState::unknown;
}

// A file without a type is taken as it is.
Result<void> check_media_type(const a2a::FilePart& file) {
  const std::string_view whole = file.mime_type;
  const FilePart told{.mime_type = to_lower(trim(whole.substr(0, whole.find(';'))))};
  if (told.mime_type.empty() || llm::kind_of(told) != llm::FileKind::other) return {};
  return Error(ErrorCode::unsupported,
               cat("no model can be given files of the type ", utf8_prefix(file.mime_type, 100)))
      .reason(a2a::TaskBackend::kMediaType);
}

Result<json::Object> fields_of(const json::Object& asked, const std::string& text) {
  const json::Object* schema = json::object_at(&asked, "requestedSchema");
  const json::Object* fields = json::object_at(schema, "properties");
  if (!fields || fields->empty()) return json::Object();
  if (fields->size() > 1) {
    return Error(ErrorCode::invalid_argument,
                 "the task waits for several fields; send them as a part with data")
        .pointer("/message/parts");
  }
  const auto& field = *fields->begin();
  return json::Object{{field.key(), form_value(field.value().if_object(), text)}};
}

ToolAnswer elicited(std::string_view action, json::Object content = {}) {
  json::Object answer{{"action", action}};
  if (action == "accept") answer["content"] = std::move(content);
  return {.text = json::write(answer)};
}

}  // namespace

a2a::Task task_of(const RunRow& row) {
  return {.id = row.id.str(),
          .context_id = context_of(row),
          .status = {.state = state_of(row.status), .timestamp = to_iso8601(row.updated_at)}};
}

a2a::Task task_of(const engine::RunView& run) {
  a2a::Task task = task_of(run.row);
  const agent::State& state = *run.state;
  task.history.push_back(asked_by(state.created().spec, task.id, task.context_id));
  const auto& end = state.terminal();
  if (!end) {
    const engine::PendingCall* question = question_of(run);
    if (!question) return task;
    task.status.state = a2a::TaskState::input_required;
    task.status.message = question_message(*question, task.id, task.context_id);
    return task;
  }
  RunTotals totals = state.totals();
  const std::string* text = state.final_text();
  if (end->status == RunStatus::succeeded && text) {
    task.artifacts.push_back(answer_of(*text, totals.output));
  }
  if (end->status != RunStatus::succeeded && !end->message.empty()) {
    task.status.message = agent_says(cat(task.id, "-end"), end->message, task.id, task.context_id);
  }
  task.metadata = totals_json(totals);
  return task;
}

std::vector<GivenFile> given_files(const agent::State& run) {
  std::vector<GivenFile> given;
  const auto& messages = run.messages();
  for (std::size_t i = run.opening_size(); i < messages.size(); ++i) {
    for (const ToolResultPart& result : messages[i]->results) {
      if (!result.ok) continue;
      int number = 0;
      for (const FilePart& file : result.files) {
        given.push_back({.artifact_id = cat(result.id.view(), "-", ++number), .file = file});
      }
    }
  }
  return given;
}

a2a::Artifact artifact_of(const GivenFile& given, a2a::Part part) {
  return {.id = given.artifact_id, .name = given.file.filename, .parts = {std::move(part)}};
}

bool is_question(const engine::PendingCall& call) {
  return call.box.kind == MailKind::tool_result && call.box.name == kElicitationTool;
}

const engine::PendingCall* question_of(const engine::RunView& run) {
  auto found = std::find_if(run.pending.begin(), run.pending.end(), is_question);
  return found == run.pending.end() ? nullptr : &*found;
}

Result<ToolAnswer> answer_to(const engine::PendingCall& question, const a2a::Message& message) {
  for (const a2a::Part& part : message.parts) {
    const auto* data = std::get_if<a2a::DataPart>(&part);
    if (data && data->data.is_object()) return elicited("accept", data->data.as_object());
  }
  const std::string text = a2a::text_of(message.parts);
  for (std::string_view refusal : {"decline", "cancel"}) {
    if (equals_ignoring_case(trim(text), refusal)) return elicited(refusal);
  }
  ERRAND_TRY(auto fields, fields_of(asked_in(question), text));
  return elicited("accept", std::move(fields));
}

Result<Spec> spec_of(const a2a::Message& message) {
  std::string text;
  json::Array files;
  for (const a2a::Part& part : message.parts) {
    if (const auto* said = std::get_if<a2a::TextPart>(&part)) {
      append(text, text.empty() ? "" : "\n", said->text);
    } else if (const auto* data = std::get_if<a2a::DataPart>(&part)) {
      append(text, text.empty() ? "" : "\n", json::write(data->data));
    } else {
      const auto& file = std::get<a2a::FilePart>(part);
      ERRAND_CHECK(check_media_type(file));
      json::Object one{{"type", file.url.empty() ? "input_file" : "input_file_url"}};
      if (!file.name.empty()) one["filename"] = file.name;
      if (!file.mime_type.empty()) one["mimeType"] = file.mime_type;
      if (file.url.empty()) {
        if (file.name.empty()) one["filename"] = "file";
        one["data"] = file.base64;
      } else {
        one["url"] = file.url;
      }
      files.push_back(std::move(one));
    }
  }
  json::Object said{{"role", "user"}, {"content", text}};
  if (!files.empty()) said["attachments"] = std::move(files);
  return parse_spec(json::Value(json::Object{{"messages", json::Array{std::move(said)}}}));
}

void TaskEvents::flush_text() {
  if (text_.empty()) return;
  add_status(a2a::TaskState::working, std::exchange(text_, {}), "text");
}

void TaskEvents::add_status(a2a::TaskState state, std::string text, std::string_view what) {
  a2a::StatusUpdate update{
      .task_id = task_id_, .context_id = context_id_, .status = {.state = state}};
  if (!text.empty()) {
    update.status.message = agent_says(cat(task_id_, "-", what, "-", ++messages_), std::move(text),
                                       task_id_, context_id_);
  }
  ready_.emplace_back(std::move(update));
}

void TaskEvents::note_files(bool is_ok, const std::vector<FilePart>& files) {
  has_files_ = has_files_ || (is_ok && !files.empty());
}

void TaskEvents::tell_files(std::vector<a2a::Artifact> files) {
  has_files_ = false;
  for (a2a::Artifact& file : files) {
    ready_.emplace_back(a2a::ArtifactUpdate{.task_id = task_id_,
                                            .context_id = context_id_,
                                            .artifact = std::move(file),
                                            .last_chunk = true});
  }
}

void TaskEvents::finish(const ResultEvent& end) {
  ready_.emplace_back(a2a::ArtifactUpdate{.task_id = task_id_,
                                          .context_id = context_id_,
                                          .artifact = answer_of(end.text, end.totals.output),
                                          .last_chunk = true});
  add_status(a2a::TaskState::completed, {}, "end");
}

void TaskEvents::tell_question(const engine::PendingCall& question) {
  auto id = ToolUseId::parse(question.box.slot);
  if (!id || told_ == id) return;
  flush_text();
  told_ = *id;
  ready_.emplace_back(
      a2a::StatusUpdate{.task_id = task_id_,
                        .context_id = context_id_,
                        .status = {.state = a2a::TaskState::input_required,
                                   .message = question_message(question, task_id_, context_id_)}});
}

void TaskEvents::settle(const ToolUseId& id) {
  std::erase(questions_, id);
  if (told_ != id) return;
  told_.reset();
  add_status(a2a::TaskState::working, {}, "answer");
}

void TaskEvents::take(const Event& event) {
  if (const auto* delta = std::get_if<AssistantDelta>(&event)) {
    text_ += delta->text;
    return;
  }
  flush_text();
  if (const auto* asked = std::get_if<LocalToolCall>(&event)) {
    if (asked->name == kElicitationTool) questions_.push_back(asked->id);
  } else if (const auto* answer = std::get_if<LocalToolResultIn>(&event)) {
    settle(answer->id);
    note_files(answer->ok, answer->files);
  } else if (const auto* result = std::get_if<ToolResultEvent>(&event)) {
    settle(result->id);
    note_files(result->ok, result->files);
  } else if (const auto* progress = std::get_if<ToolProgress>(&event)) {
    if (!progress->message.empty()) {
      add_status(a2a::TaskState::working, progress->message, "progress");
    }
  } else if (const auto* end = std::get_if<ResultEvent>(&event)) {
    if (end->subtype == "success") {
      end_ = *end;
    } else {
      add_status(a2a::TaskState::failed, end->text, "end");
    }
  } else if (const auto* error = std::get_if<ErrorEvent>(&event)) {
    add_status(a2a::TaskState::failed, error->message, "end");
  } else if (const auto* cancelled = std::get_if<CancelledEvent>(&event)) {
    add_status(a2a::TaskState::canceled, cancelled->reason, "end");
  }
}

std::vector<a2a::StreamEvent> TaskEvents::drain() {
  flush_text();
  if (end_) finish(*std::exchange(end_, {}));
  return std::exchange(ready_, {});
}

}  // namespace errand::server
