#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2a/types.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand::a2a {

// What a client wants to see of the tasks of an agent.
struct ListParams {
  static constexpr std::size_t kPageDefault = 50;
  static constexpr std::size_t kPageMax = 100;

  std::string context_id = {};  // empty: of all
  std::optional<TaskState> state = {};
  std::optional<WallTime> changed_after = {};
  std::size_t page_size = kPageDefault;
  std::string page_token = {};
  bool has_artifacts = false;
  std::size_t history_max = 0;  // messages
};
// invalid_argument: with the pointer.
Result<ListParams> parse_list_params(const json::Object& params);

// One page of a list.
struct TaskPage {
  std::vector<Task> tasks;
  std::size_t total = 0;  // on all pages
  std::string next = {};  // the token of the next page; empty: this is the last one
};
// The page of the tasks that the parameters ask for, the one that changed last first. A task that
// changes between two requests may come twice, or on neither page. invalid_argument: not a token
// of such a page.
Result<TaskPage> page_of(std::vector<Task> tasks, const ListParams& params);
// The token of the page that begins behind this task.
std::string token_after(const Task& task);

// How many messages of a task's past an answer shows; nothing: all of them. invalid_argument: not a
// number, or a negative one.
Result<std::optional<std::size_t>> parse_history_length(const json::Object* from);
// Leaves the last messages.
void cut_history(Task& task, std::size_t length);

}  // namespace errand::a2a
