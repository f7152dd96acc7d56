#include "cli/commands/history_commands.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "engine/history/replay.hpp"
#include "json/write.hpp"
#include "run/run_export.hpp"

namespace errand::cli {
namespace {

constexpr int kPageMax = 1000;
constexpr std::size_t kIdChars = 200;
constexpr std::size_t kEventChars = 2000;

std::string fork_body(const ForkOptions& options) {
  json::Object body;
  if (options.from_seq) body["fromSeq"] = *options.from_seq;
  if (options.prompt) body["prompt"] = *options.prompt;
  if (!options.model.empty()) body["modelId"] = options.model;
  return json::write(body);
}

// As many pages as it takes.
Result<std::vector<json::Value>> read_pages(const sdk::Credentials& server, const std::string& run,
                                            std::string_view what, std::string_view key) {
  std::vector<json::Value> all;
  std::string after = "0";
  while (!after.empty()) {
    std::string query = cat("/", what, "?limit=", kPageMax, "&after=", percent_encode(after));
    ERRAND_TRY(auto page, ask(server, {.path = sdk::run_path(run, query)}));
    json::Array items = items_of(page, key);
    all.insert(all.end(), items.begin(), items.end());
    after = items.empty() ? std::string() : text_of(page, "nextCursor");
  }
  return all;
}

// Of a run that goes on, the events may be a little older than the journal.
Result<RunExport> read_export(const sdk::Credentials& server, const std::string& run) {
  RunExport out;
  ERRAND_TRY(out.run, ask(server, {.path = sdk::run_path(run, "")}));
  ERRAND_TRY(out.events, read_pages(server, run, "events", "events"));
  ERRAND_TRY(out.journal, read_pages(server, run, "journal", "entries"));
  return out;
}

std::string shown_event(const std::string& event) {
  return event.empty() ? "(no event)" : clean_line(event, kEventChars);
}

std::string count_of_events(std::size_t number) {
  return cat(number, number == 1 ? " event" : " events");
}

std::string text_of_report(const engine::ReplayReport& report) {
  if (!report.difference) return cat("identical: ", count_of_events(report.events), "\n");
  const engine::ReplayDifference& difference = *report.difference;
  std::string out = cat("different at event ", difference.number, ", after ",
                        count_of_events(report.events), " that are the same\n");
  append(out, "recorded: ", shown_event(difference.recorded), "\n");
  append(out, "replayed: ", shown_event(difference.replayed), "\n");
  append(out, count_of_events(difference.following),
         difference.following == 1 ? " follows\n" : " follow\n");
  return out;
}

Result<engine::ReplayReport> replay_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error(ErrorCode::not_found, cat("cannot read the file ", file));
  std::string text(std::istreambuf_iterator<char>(in), {});
  auto run = parse_export(text);
  auto report = run ? engine::replay(*run) : Result<engine::ReplayReport>(run.error());
  if (report) return report;
  return Error(report.error().code(), cat(file, ": ", report.error().describe()))
      .hint("'errand runs export RUN --output FILE' writes a file that can be replayed");
}

}  // namespace

int fork_run(const ForkOptions& options) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  sdk::ApiRequest request{.method = net::Method::post,
                          .path = sdk::run_path(options.run, "/fork"),
                          .body = fork_body(options)};
  auto answer = ask(*server, std::move(request));
  if (!answer) return fail(answer.error());
  if (options.form == Form::json) return print_json(*answer);
  return print(cat(clean_line(text_of(*answer, "runId"), kIdChars), "\n"));
}

int export_run(const ExportOptions& options) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  auto run = read_export(*server, options.run);
  if (!run) return fail(run.error());
  std::string text = escape_json_controls(write_export(std::move(*run), SystemClock().now()));
  if (options.output.empty()) return print(text);
  auto written = write_whole_file(options.output, text);
  return written ? kExitOk : fail(written.error());
}

int replay_run(const std::string& file) {
  ignore_broken_pipes();
  auto report = replay_file(file);
  if (!report) return fail_usage(report.error());
  int printed = print(text_of_report(*report));
  return report->difference ? kExitFailed : printed;
}

}  // namespace errand::cli
