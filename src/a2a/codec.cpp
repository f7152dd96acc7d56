#include "a2a/codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"

namespace errand::a2a {
namespace {

struct VerbNames {
  Verb verb;
  std::string_view v03;
  std::string_view v10;
};
constexpr auto kVerbs = std::to_array<VerbNames>({
    {Verb::send, "message/send", "SendMessage"},
    {Verb::stream, "message/stream", "SendStreamingMessage"},
    {Verb::get, "tasks/get", "GetTask"},
    {Verb::list, "", "ListTasks"},
    {Verb::cancel, "tasks/cancel", "CancelTask"},
    {Verb::subscribe, "tasks/resubscribe", "SubscribeToTask"},
});

struct StateNames {
  TaskState state;
  std::string_view v03;
  std::string_view v10;
};
constexpr auto kStates = std::to_array<StateNames>({
    {TaskState::unknown, "unknown", "TASK_STATE_UNSPECIFIED"},
    {TaskState::submitted, "submitted", "TASK_STATE_SUBMITTED"},
    {TaskState::working, "working", "TASK_STATE_WORKING"},
    {TaskState::input_required, "input-required", "TASK_STATE_INPUT_REQUIRED"},
    {TaskState::auth_required, "auth-required", "TASK_STATE_AUTH_REQUIRED"},
    {TaskState::completed, "completed", "TASK_STATE_COMPLETED"},
    {TaskState::failed, "failed", "TASK_STATE_FAILED"},
    {TaskState::canceled, "canceled", "TASK_STATE_CANCELED"},
    {TaskState::rejected, "rejected", "TASK_STATE_REJECTED"},
});

Error wrong(std::string_view what, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, cat("expected ", what)).pointer(pointer);
}

std::string text_of(const json::Object* from, std::string_view key) {
  return std::string(json::text_at(from, key));
}

void put(json::Object& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out[key] = text;
}

FilePart parse_file(const json::Object& part) {
  // 0.3 has a member for the file; in 1.0 the part is the file.
  if (const json::Object* file = json::object_at(&part, "file")) {
    return {.name = text_of(file, "name"),
            .mime_type = text_of(file, "mimeType"),
            .base64 = text_of(file, "bytes"),
            .url = text_of(file, "uri")};
  }
  return {.name = text_of(&part, "filename"),
          .mime_type = text_of(&part, "mediaType"),
          .base64 = text_of(&part, "raw"),
          .url = text_of(&part, "url")};
}

Result<Part> parse_part(const json::Value& value, std::string_view pointer) {
  const json::Object* part = value.if_object();
  if (!part) return wrong("a part", pointer);
  if (part->contains("text")) return Part(TextPart{text_of(part, "text")});
  if (const json::Value* data = part->if_contains("data")) return Part(DataPart{*data});
  bool is_file = part->contains("file") || part->contains("raw") || part->contains("url");
  if (is_file) return Part(parse_file(*part));
  return wrong("a part with text, a file or data", pointer);
}

Result<std::vector<Part>> parse_parts(const json::Object* from, std::string_view pointer) {
  std::vector<Part> parts;
  const json::Array* array = json::array_at(from, "parts");
  std::string below = cat(pointer, "/parts");
  if (!array) return wrong("an array of parts", below);
  for (std::size_t i = 0; i < std::min(array->size(), kPartsMax); ++i) {
    ERRAND_TRY(auto part, parse_part((*array)[i], json::child_pointer(below, i)));
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Artifact> parse_artifact(const json::Value& value, std::string_view pointer) {
  const json::Object* from = value.if_object();
  if (!from) return wrong("an artifact", pointer);
  Artifact artifact{.id = text_of(from, "artifactId"),
                    .name = text_of(from, "name"),
                    .description = text_of(from, "description")};
  ERRAND_TRY(artifact.parts, parse_parts(from, pointer));
  return artifact;
}

Result<TaskStatus> parse_status(const json::Object* from, std::string_view pointer) {
  if (!from) return wrong("a status", pointer);
  TaskStatus status{.state = parse_state(json::text_at(from, "state")),
                    .timestamp = text_of(from, "timestamp")};
  if (const json::Value* message = from->if_contains("message"); message && !message->is_null()) {
    ERRAND_TRY(status.message, parse_message(*message, cat(pointer, "/message")));
  }
  return status;
}

Result<StreamEvent> parse_status_update(const json::Object& from, std::string_view pointer) {
  StatusUpdate update{.task_id = text_of(&from, "taskId"),
                      .context_id = text_of(&from, "contextId")};
  ERRAND_TRY(update.status,
             parse_status(json::object_at(&from, "status"), cat(pointer, "/status")));
  return StreamEvent(std::move(update));
}

Result<StreamEvent> parse_artifact_update(const json::Object& from, std::string_view pointer) {
  ArtifactUpdate update{.task_id = text_of(&from, "taskId"),
                        .context_id = text_of(&from, "contextId"),
                        .append = json::flag_at(&from, "append"),
                        .last_chunk = json::flag_at(&from, "lastChunk")};
  const json::Value* artifact = from.if_contains("artifact");
  if (!artifact) return wrong("an artifact", cat(pointer, "/artifact"));
  ERRAND_TRY(update.artifact, parse_artifact(*artifact, cat(pointer, "/artifact")));
  return StreamEvent(std::move(update));
}

template <class T>
Result<StreamEvent> as_event(Result<T> parsed) {
  if (!parsed) return std::move(parsed).error();
  return StreamEvent(std::move(*parsed));
}

json::Object part_json(const Part& part, Version version) {
  json::Object out;
  bool is_old = version == Version::v03;
  if (const auto* text = std::get_if<TextPart>(&part)) {
    if (is_old) out["kind"] = "text";
    out["text"] = text->text;
  } else if (const auto* data = std::get_if<DataPart>(&part)) {
    if (is_old) out["kind"] = "data";
    // In 0.3, data can only be an object.
    bool must_wrap = is_old && !data->data.is_object();
    out["data"] = must_wrap ? json::Value(json::Object{{"value", data->data}}) : data->data;
  } else {
    const auto& file = std::get<FilePart>(part);
    json::Object inner;
    bool has_bytes = file.url.empty();
    inner[is_old ? (has_bytes ? "bytes" : "uri") : (has_bytes ? "raw" : "url")] =
        has_bytes ? file.base64 : file.url;
    put(inner, is_old ? "name" : "filename", file.name);
    put(inner, is_old ? "mimeType" : "mediaType", file.mime_type);
    if (!is_old) return inner;
    out = {{"kind", "file"}, {"file", std::move(inner)}};
  }
  return out;
}

json::Array parts_json(const std::vector<Part>& parts, Version version) {
  json::Array out;
  for (const Part& part : parts) out.push_back(part_json(part, version));
  return out;
}

json::Object status_json(const TaskStatus& status, Version version) {
  json::Object out{{"state", to_text(status.state, version)}};
  if (status.message) out["message"] = to_json(*status.message, version);
  put(out, "timestamp", status.timestamp);
  return out;
}

json::Object artifact_json(const Artifact& artifact, Version version) {
  json::Object out{{"artifactId", artifact.id}, {"parts", parts_json(artifact.parts, version)}};
  put(out, "name", artifact.name);
  put(out, "description", artifact.description);
  return out;
}

// The state in the last event of a 0.3 stream: nothing more comes until the client sends a message.
bool is_last(TaskState state) {
  return is_terminal(state) || is_interrupted(state);
}

struct EventJson {
  Version version;

  json::Object operator()(const Task& task) const { return to_json(task, version); }
  json::Object operator()(const Message& message) const { return to_json(message, version); }
  json::Object operator()(const StatusUpdate& update) const {
    json::Object out{{"taskId", update.task_id},
                     {"contextId", update.context_id},
                     {"status", status_json(update.status, version)}};
    if (version == Version::v03) {
      out["kind"] = "status-update";
      out["final"] = is_last(update.status.state);
    }
    return out;
  }
  json::Object operator()(const ArtifactUpdate& update) const {
    json::Object out{{"taskId", update.task_id},
                     {"contextId", update.context_id},
                     {"artifact", artifact_json(update.artifact, version)}};
    if (version == Version::v03) out["kind"] = "artifact-update";
    if (update.append) out["append"] = true;
    if (update.last_chunk) out["lastChunk"] = true;
    return out;
  }
};

constexpr std::array<std::string_view, 4> kEventMembers = {"task", "message", "statusUpdate",
                                                           "artifactUpdate"};

}  // namespace

std::string_view method_of(Verb verb, Version version) {
  for (const VerbNames& one : kVerbs) {
    if (one.verb == verb) return version == Version::v03 ? one.v03 : one.v10;
  }
  return {};
}

std::optional<Method> find_method(std::string_view name) {
  for (const VerbNames& one : kVerbs) {
    if (name == one.v10) return Method{.verb = one.verb, .version = Version::v10};
    if (name == one.v03 && !name.empty()) return Method{.verb = one.verb, .version = Version::v03};
  }
  return {};
}

std::string_view to_text(TaskState state, Version version) {
  for (const StateNames& one : kStates) {
    if (one.state == state) return version == Version::v03 ? one.v03 : one.v10;
  }
  return {};
}

TaskState parse_state(std::string_view text) {
  for (const StateNames& one : kStates) {
    if (text == one.v03 || text == one.v10) return one.state;
  }
  return TaskState::unknown;
}

Result<Message> parse_message(const json::Value& value, std::string_view pointer) {
  const json::Object* from = value.if_object();
  if (!from) return wrong("a message", pointer);
  std::string_view role = json::text_at(from, "role");
  Message message{.id = text_of(from, "messageId"),
                  .role = role == "agent" || role == "ROLE_AGENT" ? Role::agent : Role::user,
                  .context_id = text_of(from, "contextId"),
                  .task_id = text_of(from, "taskId")};
  ERRAND_TRY(message.parts, parse_parts(from, pointer));
  return message;
}

Result<Task> parse_task(const json::Value& value, std::string_view pointer) {
  const json::Object* from = value.if_object();
  if (!from) return wrong("a task", pointer);
  Task task{.id = text_of(from, "id"), .context_id = text_of(from, "contextId")};
  if (task.id.empty()) return wrong("the id of a task", cat(pointer, "/id"));
  ERRAND_TRY(task.status, parse_status(json::object_at(from, "status"), cat(pointer, "/status")));
  if (const json::Array* artifacts = json::array_at(from, "artifacts")) {
    std::string below = cat(pointer, "/artifacts");
    for (std::size_t i = 0; i < std::min(artifacts->size(), kArtifactsMax); ++i) {
      ERRAND_TRY(auto one, parse_artifact((*artifacts)[i], json::child_pointer(below, i)));
      task.artifacts.push_back(std::move(one));
    }
  }
  if (const json::Object* metadata = json::object_at(from, "metadata")) task.metadata = *metadata;
  return task;
}

Result<StreamEvent> parse_event(const json::Value& result) {
  const json::Object* from = result.if_object();
  if (!from) return wrong("an object", "/result");
  if (const json::Value* task = from->if_contains("task")) {
    return as_event(parse_task(*task, "/result/task"));
  }
  // A 0.3 message has no member "message", and a status has it one level deeper.
  if (const json::Value* message = from->if_contains("message")) {
    return as_event(parse_message(*message, "/result/message"));
  }
  if (const json::Object* update = json::object_at(from, "statusUpdate")) {
    return parse_status_update(*update, "/result/statusUpdate");
  }
  if (const json::Object* update = json::object_at(from, "artifactUpdate")) {
    return parse_artifact_update(*update, "/result/artifactUpdate");
  }
  std::string_view kind = json::text_at(from, "kind");
  if (kind == "status-update") return parse_status_update(*from, "/result");
  if (kind == "artifact-update") return parse_artifact_update(*from, "/result");
  if (kind == "message" || from->contains("parts")) {
    return as_event(parse_message(result, "/result"));
  }
  return as_event(parse_task(result, "/result"));
}

json::Object to_json(const Message& message, Version version) {
  bool is_old = version == Version::v03;
  bool is_user = message.role == Role::user;
  json::Object out{
      {"messageId", message.id},
      {"role", is_old ? (is_user ? "user" : "agent") : (is_user ? "ROLE_USER" : "ROLE_AGENT")},
      {"parts", parts_json(message.parts, version)}};
  if (is_old) out["kind"] = "message";
  put(out, "contextId", message.context_id);
  put(out, "taskId", message.task_id);
  return out;
}

json::Object to_json(const Task& task, Version version) {
  json::Object out{{"id", task.id},
                   {"contextId", task.context_id},
                   {"status", status_json(task.status, version)}};
  if (version == Version::v03) out["kind"] = "task";
  if (!task.artifacts.empty()) {
    json::Array artifacts;
    for (const Artifact& one : task.artifacts) artifacts.push_back(artifact_json(one, version));
    out["artifacts"] = std::move(artifacts);
  }
  if (!task.history.empty()) {
    json::Array history;
    for (const Message& one : task.history) history.push_back(to_json(one, version));
    out["history"] = std::move(history);
  }
  if (!task.metadata.empty()) out["metadata"] = task.metadata;
  return out;
}

json::Object send_result(const std::variant<Task, Message>& result, Version version) {
  if (const auto* task = std::get_if<Task>(&result)) return event_json(*task, version);
  return event_json(std::get<Message>(result), version);
}

json::Object event_json(const StreamEvent& event, Version version) {
  json::Object inner = std::visit(EventJson{version}, event);
  if (version == Version::v03) return inner;
  return {{kEventMembers[event.index()], std::move(inner)}};
}

}  // namespace errand::a2a
