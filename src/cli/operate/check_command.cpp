#include "cli/operate/check_command.hpp"

#include <unistd.h>

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "engine/history/check.hpp"
#include "host/store_file.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/upkeep/verify.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockingThreads = 1;
constexpr std::size_t kBlockingQueueMax = 100;
constexpr std::size_t kSentenceChars = 1000;

// A number with separators, such as "88,112".
template <class N>
std::string grouped(N number) {
  std::string digits = cat(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string count_of(std::size_t number, std::string_view noun) {
  return cat(grouped(number), " ", noun, number == 1 ? "" : "s");
}

// Overwrites one line for people who watch.
void show_progress(const engine::CheckReport& so_far) {
  std::string line = cat("\rchecked ", count_of(so_far.runs, "run"), " ...");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, line);
}

void clear_progress() {
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, "\r\033[K");
}

std::string lines_of(const std::vector<std::string>& damages,
                     const std::vector<engine::Finding>& findings) {
  std::string out;
  for (const std::string& damage : damages) {
    append(out, "database: ", clean_line(damage, kSentenceChars), "\n");
  }
  for (const engine::Finding& finding : findings) {
    append(out, finding.run.view(), " ", finding.rule, ": ",
           clean_line(finding.sentence, kSentenceChars), "\n");
  }
  return out;
}

std::string summary_of(const engine::CheckReport& report, std::size_t problems) {
  std::string found = problems == 0 ? "no problems" : count_of(problems, "problem");
  return cat("checked ", count_of(report.runs, "run"), ", ",
             count_of(static_cast<std::size_t>(report.events), "event"), ": ", found, " found\n");
}

Result<fs::path> find_file(const CheckOptions& options) {
  ERRAND_TRY(fs::path path, host::store_file(options.data, options.store));
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  return Error(ErrorCode::not_found, cat("there is no database ", path.string()))
      .hint("name the directory of 'errand serve' with --data DIR");
}

Result<engine::CheckReport> check(Store& store) {
  bool is_watched = ::isatty(STDERR_FILENO) == 1;
  asio::io_context io(1);
  engine::OnProgress on_progress;
  if (is_watched) on_progress = show_progress;
  auto report = sdk::wait_for(io, engine::check_store(&store, std::move(on_progress)));
  if (is_watched) clear_progress();
  return report;
}

}  // namespace

int check_data(const CheckOptions& options) {
  ignore_broken_pipes();
  auto path = find_file(options);
  if (!path) return fail_usage(path.error());
  SystemClock clock;
  Log log(clock, STDERR_FILENO, LogFormat::text);
  BlockingPool pool(kBlockingThreads, kBlockingQueueMax);
  auto store = SqliteStore::open({.path = *path, .clock = clock, .pool = pool, .log = log});
  if (!store && store.error().code() == ErrorCode::conflict) {
    return fail_usage(
        Error(store.error()).hint("stop it, or check a copy made with 'errand backup'"));
  }
  // A database that is too damaged to be opened can still be examined.
  auto damages = sqlite::verify(*path);
  std::vector<std::string> sentences = damages ? *damages : std::vector<std::string>();
  auto report = store ? check(**store) : Result<engine::CheckReport>(store.error());
  if (!report) {
    print(lines_of(sentences, {}));
    return fail(Error(report.error()).hint("restore a backup with 'errand restore'"));
  }
  if (!damages) return fail(damages.error());
  std::size_t problems = sentences.size() + report->findings.size();
  int printed = print(lines_of(sentences, report->findings) + summary_of(*report, problems));
  return problems == 0 ? printed : kExitFailed;
}

}  // namespace errand::cli
