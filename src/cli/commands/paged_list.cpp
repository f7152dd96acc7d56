#include "cli/commands/paged_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/show/answer_text.hpp"

namespace errand::cli {

Result<json::Object> read_list(sdk::ApiClient& api, const PagedList& list) {
  json::Object whole;
  json::Array items;
  std::string cursor = list.cursor;
  do {
    std::size_t wanted = std::min(list.limit - items.size(), list.page_max);
    sdk::Query query{{"limit", std::to_string(wanted)}};
    query.insert(query.end(), list.query.begin(), list.query.end());
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    ERRAND_TRY(auto page, api.ask({.path = list.path, .query = std::move(query)}));
    for (const json::Value& item : items_of(page, list.items)) items.push_back(item);
    cursor = text_of(page, "nextCursor");
    if (whole.empty() && page.is_object()) whole = std::move(page.get_object());
  } while (!cursor.empty() && items.size() < list.limit);
  whole[list.items] = std::move(items);
  whole["nextCursor"] = cursor.empty() ? json::Value() : json::Value(cursor);
  return whole;
}

void note_more(const json::Object& answer, std::string_view how) {
  const json::Value* cursor = answer.if_contains("nextCursor");
  if (!cursor || cursor->is_null()) return;
  std::string note = cat("There are more: ", how, "\n");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, clean_text(note));
}

}  // namespace errand::cli
