#include "a2a/agent_outcome.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "run/tools/tool_ref.hpp"

namespace errand::a2a {
namespace {

Content file_of(const FilePart& file) {
  if (!file.url.empty()) {
    return LinkContent{.uri = file.url, .name = file.name, .mime_type = file.mime_type};
  }
  auto bytes = from_base64(file.base64);
  if (!bytes) return TextContent{cat("[", file.name, " is left out: it is not base64]")};
  FileContent content;
  if (file.mime_type.starts_with("image/")) content.kind = FileContent::Kind::image;
  if (file.mime_type.starts_with("audio/")) content.kind = FileContent::Kind::audio;
  content.file = {.filename = file.name,
                  .mime_type = file.mime_type,
                  .bytes = std::make_shared<const std::string>(std::move(*bytes))};
  return content;
}

void add_parts(std::vector<Content>& out, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (const auto* text = std::get_if<TextPart>(&part)) {
      out.emplace_back(TextContent{text->text});
    } else if (const auto* data = std::get_if<DataPart>(&part)) {
      out.emplace_back(JsonContent{data->data});
    } else {
      out.push_back(file_of(std::get<FilePart>(part)));
    }
  }
}

// The words before the output of a task that did not simply succeed.
std::string headline(const Task& task) {
  switch (task.status.state) {
    case TaskState::input_required:
      return cat("The agent needs input. To answer, call this tool again with taskId \"", task.id,
                 "\" and contextId \"", task.context_id, "\".");
    case TaskState::auth_required:
      return cat("The agent wants somebody to authenticate. Its task \"", task.id, "\" waits.");
    case TaskState::failed: return "The agent's task failed.";
    case TaskState::rejected: return "The agent rejected the task.";
    case TaskState::canceled: return "The agent's task was cancelled.";
    default: return {};
  }
}

}  // namespace

std::string text_of(const std::vector<Part>& parts) {
  std::string out;
  for (const Part& part : parts) {
    const auto* text = std::get_if<TextPart>(&part);
    if (text) append(out, out.empty() ? "" : "\n", text->text);
  }
  return out;
}

ToolOutcome outcome_of(Reply reply) {
  ToolOutcome outcome;
  if (const auto* message = std::get_if<Message>(&reply)) {
    add_parts(outcome.content, message->parts);
  } else {
    const auto& task = std::get<Task>(reply);
    TaskState state = task.status.state;
    bool has_failed = is_terminal(state) && state != TaskState::completed;
    if (has_failed) outcome.kind = ToolOutcome::Kind::failed;
    std::string head = headline(task);
    if (!head.empty()) outcome.content.emplace_back(TextContent{std::move(head)});
    for (const Artifact& artifact : task.artifacts) add_parts(outcome.content, artifact.parts);
    // If a completed task has artifacts, its last message often says only that it is done.
    bool tells_more = task.artifacts.empty() || state != TaskState::completed;
    if (tells_more && task.status.message) add_parts(outcome.content, task.status.message->parts);
  }
  if (outcome.content.empty())
    outcome.content.emplace_back(TextContent{"(the agent said nothing)"});
  return outcome;
}

ToolOutcome outcome_of(const Error& error) {
  if (error.code() == ErrorCode::outcome_unknown) {
    return failed_outcome(cat("The agent did not answer (", error.message(),
                              "). It may or may not have taken the message."));
  }
  return failed_outcome(cat("The agent could not be asked: ", error.message()));
}

std::string describe(const AgentCard& card) {
  std::string out = cat("Delegates a task to the agent \"", card.name, "\".");
  if (!card.description.empty()) append(out, " ", card.description);
  std::size_t told = std::min(card.skills.size(), kToldSkillsMax);
  for (std::size_t i = 0; i < told; ++i) {
    const Skill& skill = card.skills[i];
    append(out, i == 0 ? "\nSkills:" : "", "\n- ", skill.name);
    if (!skill.description.empty()) append(out, ": ", skill.description);
  }
  return out;
}

}  // namespace errand::a2a
