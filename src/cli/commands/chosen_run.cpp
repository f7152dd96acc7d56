#include "cli/commands/chosen_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::string_view kPrefix = "run_";
constexpr std::size_t kWholeIdBytes = 30;
constexpr std::size_t kRunsPageMax = 200;
constexpr std::size_t kCandidatesMax = 5;
constexpr std::size_t kShownWordBytes = 80;

Error no_run(std::string_view word) {
  return Error(ErrorCode::not_found,
               cat("there is no run \"", utf8_prefix(word, kShownWordBytes), "\""))
      .reason("run_not_found")
      .hint("'errand runs list' lists the latest runs");
}

Result<std::vector<std::string>> latest_runs(sdk::ApiClient& api, std::size_t wanted) {
  std::vector<std::string> runs;
  std::string cursor;
  do {
    sdk::RunQuery query{.limit = std::min(wanted - runs.size(), kRunsPageMax), .cursor = cursor};
    ERRAND_TRY(auto page, api.wait(api.runs().list(std::move(query))));
    for (const sdk::RunInfo& run : page.runs) runs.push_back(run.id.str());
    cursor = std::move(page.next_cursor);
  } while (!cursor.empty() && runs.size() < wanted);
  return runs;
}

}  // namespace

Result<std::string> find_run(sdk::ApiClient& api, const std::string& word) {
  if (word == "latest") {
    ERRAND_TRY(auto runs, latest_runs(api, 1));
    if (runs.empty()) return Error(ErrorCode::not_found, "there are no runs yet");
    return runs.front();
  }
  std::string beginning = word.starts_with(kPrefix) ? word : cat(kPrefix, word);
  if (beginning.size() >= kWholeIdBytes) return beginning;
  ERRAND_TRY(auto runs, latest_runs(api, kSearchedRunsMax));
  std::erase_if(runs, [&](const std::string& run) { return !run.starts_with(beginning); });
  if (runs.empty() || beginning == kPrefix) return no_run(word);
  if (runs.size() == 1) return runs.front();
  std::size_t count = runs.size();
  runs.resize(std::min(count, kCandidatesMax));
  return Error(ErrorCode::invalid_argument,
               cat("\"", word, "\" is the beginning of ", count, " runs"))
      .hint("give more of the id")
      .candidates(std::move(runs));
}

int with_run(const WithClient& with, const std::string& word,
             const std::function<int(sdk::ApiClient&, const std::string& run)>& work) {
  return with([&](sdk::ApiClient& api) {
    auto run = find_run(api, word);
    return run ? work(api, *run) : fail(run.error());
  });
}

}  // namespace errand::cli
