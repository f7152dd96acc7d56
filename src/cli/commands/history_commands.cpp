#include "cli/commands/history_commands.hpp"

#include <filesystem>
#include <utility>

#include "base/clock.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/chosen_run.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "json/write.hpp"
#include "run/fork.hpp"
#include "run/log/run_export.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kIdChars = 200;

std::string fork_body(const ForkOptions& options) {
  ForkParams params{.from_seq = options.from_seq, .overrides = {.prompt = options.prompt}};
  if (!options.model.empty()) params.overrides.model_id = options.model;
  return json::write(to_json(params));
}

// If the run is in progress, the events may be a little older than the journal.
Result<RunExport> read_export(sdk::ApiClient& api, const std::string& run) {
  RunExport out;
  ERRAND_TRY(out.run, api.ask({.path = sdk::run_path(run, "")}));
  ERRAND_TRY(out.events, api.wait(sdk::read_pages(&api, run, "events", "events")));
  ERRAND_TRY(out.journal, api.wait(sdk::read_pages(&api, run, "journal", "entries")));
  return out;
}

}  // namespace

int fork_run(const ForkOptions& options) {
  auto with = [&](const auto& work) { return with_server(options.server, work); };
  return with_run(with, options.run, [&](sdk::ApiClient& api, const std::string& run) {
    sdk::ApiRequest request{.method = sdk::Method::post,
                            .path = sdk::run_path(run, "/fork"),
                            .body = fork_body(options)};
    return show_answer(api, options.form, std::move(request), [](const json::Value& answer) {
      return cat(clean_line(text_of(answer, "runId"), kIdChars), "\n");
    });
  });
}

int export_run(const ExportOptions& options) {
  std::error_code ignored;
  if (!options.force && !options.output.empty() &&
      std::filesystem::exists(std::filesystem::symlink_status(options.output, ignored))) {
    return fail_usage(
        Error(ErrorCode::conflict, cat("there is a file ", options.output, " already"))
            .hint("--force replaces it"));
  }
  auto with = [&](const auto& work) { return with_data({.server = options.server}, work); };
  return with_run(with, options.run, [&](sdk::ApiClient& api, const std::string& id) {
    auto run = read_export(api, id);
    if (!run) return fail(run.error());
    std::string text = escape_json_controls(write_export(std::move(*run), SystemClock().now()));
    if (options.output.empty()) return print(text);
    auto written = write_whole_file(options.output, text);
    return written ? kExitOk : fail(written.error());
  });
}

}  // namespace errand::cli
