#include "a2a/server/task_list.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "a2a/codec.hpp"
#include "base/dates/iso_time.hpp"
#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::a2a {
namespace {

Error wrong(std::string_view what, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, std::string(what)).pointer(pointer);
}

bool has(const json::Object& params, std::string_view key) {
  const json::Value* value = params.if_contains(key);
  return value && !value->is_null();
}

// The place of a task in a list: timestamps that one program wrote sort like the times that they
// stand for.
auto place_of(const Task& task) {
  return std::tie(task.status.timestamp, task.id);
}

bool is_wanted(const Task& task, const ListParams& params) {
  if (params.state && task.status.state != *params.state) return false;
  if (!params.changed_after) return true;
  auto changed = parse_iso8601(task.status.timestamp);
  return changed && *changed >= *params.changed_after;
}

}  // namespace

std::string token_after(const Task& task) {
  return cat(task.status.timestamp, " ", task.id);
}

Result<ListParams> parse_list_params(const json::Object& params) {
  ListParams out{.context_id = std::string(json::text_at(&params, "contextId")),
                 .page_token = std::string(json::text_at(&params, "pageToken")),
                 .has_artifacts = json::flag_at(&params, "includeArtifacts")};
  if (std::string_view text = json::text_at(&params, "status"); !text.empty()) {
    out.state = parse_state(text);
    bool is_known = out.state != TaskState::unknown || text == "TASK_STATE_UNSPECIFIED";
    if (!is_known) return wrong("there is no such state", "/status");
    if (out.state == TaskState::unknown) out.state.reset();
  }
  if (has(params, "statusTimestampAfter")) {
    out.changed_after = parse_iso8601(json::text_at(&params, "statusTimestampAfter"));
    if (!out.changed_after) {
      return wrong("expected a time such as 2026-11-15T12:00:00Z", "/statusTimestampAfter");
    }
  }
  if (has(params, "pageSize")) {
    auto size = json::integer_at(&params, "pageSize");
    if (!size || *size < 1 || *size > static_cast<std::int64_t>(ListParams::kPageMax)) {
      return wrong(cat("expected a number from 1 to ", ListParams::kPageMax), "/pageSize");
    }
    out.page_size = static_cast<std::size_t>(*size);
  }
  ERRAND_TRY(auto length, parse_history_length(&params));
  out.history_max = length.value_or(0);
  return out;
}

Result<TaskPage> page_of(std::vector<Task> tasks, const ListParams& params) {
  std::erase_if(tasks, [&params](const Task& task) { return !is_wanted(task, params); });
  std::sort(tasks.begin(), tasks.end(),
            [](const Task& a, const Task& b) { return place_of(a) > place_of(b); });
  TaskPage page{.tasks = {}, .total = tasks.size()};
  auto first = tasks.begin();
  if (!params.page_token.empty()) {
    const std::size_t space = params.page_token.find(' ');
    if (space == std::string::npos || !parse_iso8601(params.page_token.substr(0, space))) {
      return wrong("this page token is not from this agent", "/pageToken");
    }
    first = std::find_if(tasks.begin(), tasks.end(), [&params](const Task& task) {
      return token_after(task) < params.page_token;
    });
  }
  const auto left = static_cast<std::size_t>(tasks.end() - first);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(left, params.page_size));
  if (left > params.page_size) page.next = token_after(*std::prev(last));
  page.tasks.assign(std::make_move_iterator(first), std::make_move_iterator(last));
  return page;
}

Result<std::optional<std::size_t>> parse_history_length(const json::Object* from) {
  if (!from || !has(*from, "historyLength")) return std::optional<std::size_t>();
  auto length = json::integer_at(from, "historyLength");
  if (!length || *length < 0) return wrong("expected a number from 0 on", "/historyLength");
  return std::optional<std::size_t>(static_cast<std::size_t>(*length));
}

void cut_history(Task& task, std::size_t length) {
  if (length >= task.history.size()) return;
  task.history.erase(task.history.begin(),
                     task.history.end() - static_cast<std::ptrdiff_t>(length));
}

}  // namespace errand::a2a
