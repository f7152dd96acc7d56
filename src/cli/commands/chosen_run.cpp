#include "cli/commands/chosen_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/id.hpp"
#include "base/text.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::string_view kPrefix = "run_";
constexpr std::size_t kWholeIdBytes = 30;
constexpr std::size_t kCandidatesMax = 5;
constexpr std::size_t kShownWordBytes = 80;

Error no_run(std::string_view word) {
  return Error(ErrorCode::not_found,
               cat("there is no run \"", utf8_prefix(word, kShownWordBytes), "\""))
      .reason("run_not_found")
      .hint("'errand runs list' lists the latest runs");
}

// The latest runs whose ids are smaller than `before`, unless that is empty: the server lists runs
// by their ids.
Result<std::vector<std::string>> latest_runs(sdk::ApiClient& api, std::size_t wanted,
                                             std::string before = {}) {
  sdk::RunQuery query{.limit = wanted, .cursor = std::move(before)};
  ERRAND_TRY(auto page, api.wait(api.runs().list(std::move(query))));
  std::vector<std::string> runs;
  for (const sdk::RunInfo& run : page.runs) runs.push_back(run.id.str());
  return runs;
}

// A text that is larger than every id with this beginning.
std::string end_of(const std::string& beginning) {
  return beginning + std::string(kIdCharsMax - beginning.size(), 'z');
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
  if (beginning == kPrefix || !is_valid_id(beginning)) return no_run(word);
  ERRAND_TRY(auto runs, latest_runs(api, kCandidatesMax + 1, end_of(beginning)));
  std::erase_if(runs, [&](const std::string& run) { return !run.starts_with(beginning); });
  if (runs.empty()) return no_run(word);
  if (runs.size() == 1) return runs.front();
  std::string count =
      cat(runs.size() > kCandidatesMax ? "more than " : "", std::min(runs.size(), kCandidatesMax));
  runs.resize(std::min(runs.size(), kCandidatesMax));
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
