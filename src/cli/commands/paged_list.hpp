#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "sdk/internal/api_client.hpp"

namespace errand::cli {

// A list that the server gives out in pages.
struct PagedList {
  std::string path;
  std::string items;        // the member that holds the items
  sdk::Query query = {};    // filters
  std::size_t limit = 200;  // how many items are wanted at most
  std::string cursor = {};  // where to begin; empty: at the first item
  std::size_t page_max = 200;
};

// As many pages as it takes: the first answer with the items of all pages. Its "nextCursor" is null
// if there are no more items. Blocks.
Result<json::Object> read_list(sdk::ApiClient& api, const PagedList& list);

// Says on stderr that there is more than what was shown, and how to see it; nothing if there is no
// more. "There are more: " comes first.
void note_more(const json::Object& answer, std::string_view how);

}  // namespace errand::cli
