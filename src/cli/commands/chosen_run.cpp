#include "cli/commands/chosen_run.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/report.hpp"
#include "net/url.hpp"

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

Result<std::vector<std::string>> latest_runs(const sdk::Credentials& server, std::size_t wanted) {
  std::vector<std::string> runs;
  std::string cursor;
  do {
    net::Query query{{"limit", std::to_string(std::min(wanted - runs.size(), kRunsPageMax))}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    ERRAND_TRY(auto page, ask(server, {.path = net::with_query("/agent-runs", query)}));
    for (const json::Value& run : items_of(page, "runs")) runs.push_back(text_of(run, "runId"));
    cursor = text_of(page, "nextCursor");
  } while (!cursor.empty() && runs.size() < wanted);
  return runs;
}

}  // namespace

Result<std::string> find_run(const sdk::Credentials& server, const std::string& word) {
  if (word == "latest") {
    ERRAND_TRY(auto runs, latest_runs(server, 1));
    if (runs.empty()) return Error(ErrorCode::not_found, "there are no runs yet");
    return runs.front();
  }
  std::string beginning = word.starts_with(kPrefix) ? word : cat(kPrefix, word);
  if (beginning.size() >= kWholeIdBytes) return beginning;
  ERRAND_TRY(auto runs, latest_runs(server, kSearchedRunsMax));
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

int with_run(const WithServer& with, const std::string& word,
             const std::function<int(const sdk::Credentials&, const std::string& run)>& work) {
  return with([&](const sdk::Credentials& server) {
    auto run = find_run(server, word);
    return run ? work(server, *run) : fail(run.error());
  });
}

}  // namespace errand::cli
