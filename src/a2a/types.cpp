#include "a2a/types.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace errand::a2a {

bool is_terminal(TaskState state) {
  return state == TaskState::completed || state == TaskState::failed ||
         state == TaskState::canceled || state == TaskState::rejected;
}

bool is_interrupted(TaskState state) {
  return state == TaskState::input_required || state == TaskState::auth_required;
}

void apply(Task& task, StatusUpdate update) {
  task.status = std::move(update.status);
}

void apply(Task& task, ArtifactUpdate update) {
  auto known =
      std::find_if(task.artifacts.begin(), task.artifacts.end(),
                   [&update](const Artifact& one) { return one.id == update.artifact.id; });
  if (known == task.artifacts.end()) {
    task.artifacts.push_back(std::move(update.artifact));
  } else if (update.append) {
    std::move(update.artifact.parts.begin(), update.artifact.parts.end(),
              std::back_inserter(known->parts));
  } else {
    *known = std::move(update.artifact);
  }
}

}  // namespace errand::a2a
