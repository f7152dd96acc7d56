#include "a2a/server/task_list.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::a2a::task_list_test {
namespace {

using Names = std::vector<std::string>;

Task task(std::string id, TaskState state, int second) {
  return {.id = std::move(id),
          .status = {.state = state, .timestamp = cat("2026-11-15T12:00:0", second, ".000Z")}};
}

std::vector<Task> three() {
  return {task("a", TaskState::completed, 1), task("b", TaskState::working, 3),
          task("c", TaskState::completed, 1)};
}

Result<ListParams> parsed(std::string_view text) {
  return parse_list_params(json::parse(text)->as_object());
}

// The ids of the page, and the token of the next one.
Names shown(const ListParams& params) {
  auto page = page_of(three(), params);
  if (!page) return {page.error().describe()};
  Names out;
  for (const Task& one : page->tasks) out.push_back(one.id);
  out.push_back(page->next);
  return out;
}

TEST(TaskList, BeginsWithTheTaskThatChangedLast) {
  EXPECT_EQ(shown({}), (Names{"b", "c", "a", ""}));
}

TEST(TaskList, PagesFollowEachOther) {
  EXPECT_EQ(shown({.page_size = 2}), (Names{"b", "c", "2026-11-15T12:00:01.000Z c"}));
  EXPECT_EQ(shown({.page_size = 2, .page_token = "2026-11-15T12:00:01.000Z c"}), (Names{"a", ""}));
  EXPECT_EQ(shown({.page_token = "2026-11-15T12:00:01.000Z a"}), Names{""});
  EXPECT_EQ(shown({.page_token = "made up"}),
            Names{"this page token is not from this agent (at /pageToken)"});
}

TEST(TaskList, IsFiltered) {
  EXPECT_EQ(shown(parsed(R"({"status":"TASK_STATE_COMPLETED"})").value()), (Names{"c", "a", ""}));
  EXPECT_EQ(shown(parsed(R"({"statusTimestampAfter":"2026-11-15T12:00:02Z"})").value()),
            (Names{"b", ""}));
}

TEST(TaskList, WrongParametersHaveAPointer) {
  EXPECT_EQ(parsed(R"({"pageSize":0})").error().describe(),
            "expected a number from 1 to 100 (at /pageSize)");
  EXPECT_EQ(parsed(R"({"historyLength":-1})").error().describe(),
            "expected a number from 0 on (at /historyLength)");
  EXPECT_EQ(parsed(R"({"status":"done"})").error().describe(),
            "there is no such state (at /status)");
  EXPECT_EQ(parsed(R"({"statusTimestampAfter":"soon"})").error().describe(),
            "expected a time such as 2026-11-15T12:00:00Z (at /statusTimestampAfter)");
}

}  // namespace
}  // namespace errand::a2a::task_list_test
