#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2a/types.hpp"
#include "engine/engine.hpp"
#include "run/log/event.hpp"

namespace errand::server {

// A run as a task of A2A. The task has the run's id, and the session's id is its context.
a2a::Task task_of(const engine::RunView& run);
// The same from what a list knows: without artifacts and history.
a2a::Task task_of(const RunRow& row);
a2a::TaskState state_of(RunStatus status);

// What a message asks of a run: its texts and data as the prompt, its files as attachments.
// invalid_argument: nothing is asked, or a file is not one that a run takes.
Result<Spec> spec_of(const a2a::Message& message);

// Turns the events of a run into those of its task. Text that streams in becomes updates of the
// status; the final text becomes an artifact.
class TaskEvents final {
 public:
  TaskEvents(std::string task_id, std::string context_id)
      : task_id_(std::move(task_id)), context_id_(std::move(context_id)) {}

  void take(const Event& event);
  // What has come about since the last time.
  std::vector<a2a::StreamEvent> drain();

 private:
  void flush_text();
  void add_status(a2a::TaskState state, std::string text, std::string_view what);
  void finish(const ResultEvent& end);

  const std::string task_id_;
  const std::string context_id_;
  std::string text_;  // that has streamed in
  int messages_ = 0;
  std::vector<a2a::StreamEvent> ready_;
};

}  // namespace errand::server
