#include "server/a2a/run_task.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

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

std::string prompt_of(const Spec& spec) {
  if (spec.prompt) return *spec.prompt;
  return spec.messages.empty() ? std::string() : spec.messages.back().text;
}

}  // namespace

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

a2a::Task task_of(const RunRow& row) {
  return {.id = row.id.str(),
          .context_id = context_of(row),
          .status = {.state = state_of(row.status), .timestamp = to_iso8601(row.updated_at)}};
}

a2a::Task task_of(const engine::RunView& run) {
  a2a::Task task = task_of(run.row);
  const agent::State& state = *run.state;
  task.history.push_back({.id = cat(task.id, "-user"),
                          .role = a2a::Role::user,
                          .parts = {a2a::TextPart{prompt_of(state.created().spec)}},
                          .context_id = task.context_id,
                          .task_id = task.id});
  const auto& end = state.terminal();
  if (!end) return task;
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

void TaskEvents::finish(const ResultEvent& end) {
  if (end.subtype != "success") return add_status(a2a::TaskState::failed, end.text, "end");
  ready_.emplace_back(a2a::ArtifactUpdate{.task_id = task_id_,
                                          .context_id = context_id_,
                                          .artifact = answer_of(end.text, end.totals.output),
                                          .last_chunk = true});
  add_status(a2a::TaskState::completed, {}, "end");
}

void TaskEvents::take(const Event& event) {
  if (const auto* delta = std::get_if<AssistantDelta>(&event)) {
    text_ += delta->text;
    return;
  }
  flush_text();
  if (const auto* progress = std::get_if<ToolProgress>(&event)) {
    if (!progress->message.empty()) {
      add_status(a2a::TaskState::working, progress->message, "progress");
    }
  } else if (const auto* end = std::get_if<ResultEvent>(&event)) {
    finish(*end);
  } else if (const auto* error = std::get_if<ErrorEvent>(&event)) {
    add_status(a2a::TaskState::failed, error->message, "end");
  } else if (const auto* cancelled = std::get_if<CancelledEvent>(&event)) {
    add_status(a2a::TaskState::canceled, cancelled->reason, "end");
  }
}

std::vector<a2a::StreamEvent> TaskEvents::drain() {
  flush_text();
  return std::exchange(ready_, {});
}

}  // namespace errand::server
