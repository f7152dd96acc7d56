#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2a/types.hpp"
#include "engine/engine.hpp"
#include "run/log/event.hpp"

namespace errand::server {

// The metadata by which the runs of an agent's tasks are told from its other runs. Callers of runs
// may write it, too, so it says nothing about which agent has run.
inline constexpr std::string_view kTaskAgentKey = "a2a_agent";
// The metadata that holds the client's id of the message that began a task.
inline constexpr std::string_view kTaskMessageKey = "a2a_message";

// A run as a task of A2A. The task has the run's id, and the session's id is its context. Files in
// its history have neither bytes nor a URL if their bytes are kept beside the log.
a2a::Task task_of(const engine::RunView& run);
// The same from what a list knows: without artifacts and history. A run that waits for an answer to
// an elicitation has the task state "working".
a2a::Task task_of(const RunRow& row);

// The files that the tools of a run have given, in the order of the calls, each with the id of its
// artifact.
struct GivenFile {
  std::string artifact_id;
  FilePart file;
};
std::vector<GivenFile> given_files(const agent::State& run);
// Such a file as an artifact; `part` has its bytes, or says that they are left out.
a2a::Artifact artifact_of(const GivenFile& given, a2a::Part part);

// The run that a message asks for: its texts and data are the prompt, its files the attachments.
// invalid_argument: the message is empty, or a run does not take one of its files. unsupported with
// the reason TaskBackend::kMediaType: no model can be given a file of this type.
Result<Spec> spec_of(const a2a::Message& message);

// Whether the client of the task answers this pending call.
bool is_question(const engine::PendingCall& call);
// The first of them; nullptr if there is none.
const engine::PendingCall* question_of(const engine::RunView& run);
// What a message answers to such a call: the fields of its form. Data is the fields; a text is the
// field of a form with one field; "decline" and "cancel" are said in so many words.
// invalid_argument: the form has several fields, and the message says which value is whose in no
// data.
Result<ToolAnswer> answer_to(const engine::PendingCall& question, const a2a::Message& message);

// Turns the events of a run into the events of its task. Streamed text becomes updates of the
// status; the files of tools and the final text become artifacts.
class TaskEvents final {
 public:
  TaskEvents(std::string task_id, std::string context_id)
      : task_id_(std::move(task_id)), context_id_(std::move(context_id)) {}

  void take(const Event& event);
  // Whether the run has asked its client a question that no event answers.
  bool has_question() const { return !questions_.empty(); }
  // The run waits for an answer to this question. Each question is shown once.
  void tell_question(const engine::PendingCall& question);
  // Whether the run has succeeded, and its tools have given files. Events do not say where their
  // bytes are, so the caller tells them before it drains the end.
  bool wants_files() const { return end_ && has_files_; }
  void tell_files(std::vector<a2a::Artifact> files);
  // The task's events since the last call.
  std::vector<a2a::StreamEvent> drain();

 private:
  void flush_text();
  void add_status(a2a::TaskState state, std::string text, std::string_view what);
  void finish(const ResultEvent& end);
  void settle(const ToolUseId& id);
  void note_files(bool is_ok, const std::vector<FilePart>& files);

  const std::string task_id_;
  const std::string context_id_;
  std::string text_;  // that has streamed in
  int messages_ = 0;
  std::vector<ToolUseId> questions_;    // that no event answers
  std::optional<ToolUseId> told_ = {};  // the question of the status
  bool has_files_ = false;
  std::optional<ResultEvent> end_ = {};  // of the run; not told yet
  std::vector<a2a::StreamEvent> ready_;
};

}  // namespace errand::server
