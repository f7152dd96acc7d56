#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/value.hpp"

namespace errand::a2a {

// The two versions of the protocol that are in use. They differ in names and shapes, not in what
// they say.
enum class Version : std::uint8_t { v03, v10 };

struct TextPart {
  std::string text;
  friend bool operator==(const TextPart&, const TextPart&) = default;
};

// Bytes, or where they are.
struct FilePart {
  std::string name = {};
  std::string mime_type = {};
  std::string base64 = {};
  std::string url = {};  // unless the bytes come along
  friend bool operator==(const FilePart&, const FilePart&) = default;
};

struct DataPart {
  json::Value data;
  friend bool operator==(const DataPart&, const DataPart&) = default;
};

using Part = std::variant<TextPart, FilePart, DataPart>;

enum class Role : std::uint8_t { user, agent };

struct Message {
  std::string id;
  Role role = Role::user;
  std::vector<Part> parts = {};
  std::string context_id = {};
  std::string task_id = {};
  friend bool operator==(const Message&, const Message&) = default;
};

struct Artifact {
  std::string id;
  std::string name = {};
  std::string description = {};
  std::vector<Part> parts = {};
  friend bool operator==(const Artifact&, const Artifact&) = default;
};

enum class TaskState : std::uint8_t {
  unknown,
  submitted,
  working,
  input_required,
  auth_required,
  completed,
  failed,
  canceled,
  rejected,
};
// Nothing comes after it.
bool is_terminal(TaskState state);
// The task waits for its client, or for another party.
bool is_interrupted(TaskState state);

struct TaskStatus {
  TaskState state = TaskState::unknown;
  std::optional<Message> message = {};
  std::string timestamp = {};
  friend bool operator==(const TaskStatus&, const TaskStatus&) = default;
};

struct Task {
  std::string id;
  std::string context_id = {};
  TaskStatus status = {};
  std::vector<Artifact> artifacts = {};
  std::vector<Message> history = {};
  json::Object metadata = {};
  friend bool operator==(const Task&, const Task&) = default;
};

struct StatusUpdate {
  std::string task_id;
  std::string context_id = {};
  TaskStatus status = {};
  friend bool operator==(const StatusUpdate&, const StatusUpdate&) = default;
};

struct ArtifactUpdate {
  std::string task_id;
  std::string context_id = {};
  Artifact artifact = {};
  bool append = false;  // to the artifact with this id
  bool last_chunk = false;
  friend bool operator==(const ArtifactUpdate&, const ArtifactUpdate&) = default;
};

using StreamEvent = std::variant<Task, Message, StatusUpdate, ArtifactUpdate>;

// What a peer's update makes of a task.
void apply(Task& task, StatusUpdate update);
void apply(Task& task, ArtifactUpdate update);

struct Skill {
  std::string id;
  std::string name;
  std::string description = {};
  std::vector<std::string> tags = {};
  friend bool operator==(const Skill&, const Skill&) = default;
};

// Where an agent is reached by JSON-RPC.
struct Interface {
  std::string url;
  Version version = Version::v10;
  friend bool operator==(const Interface&, const Interface&) = default;
};

struct AgentCard {
  std::string name;
  std::string description = {};
  std::string version = {};
  std::vector<Interface> interfaces = {};  // the ones that this program can use, best first
  bool streaming = false;
  std::vector<Skill> skills = {};
  json::Object source = {};  // the card as the agent wrote it
  friend bool operator==(const AgentCard&, const AgentCard&) = default;
};

}  // namespace errand::a2a
