#include "cli/operate/replay_command.hpp"

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "engine/history/replay.hpp"
#include "json/place.hpp"
#include "run/log/run_export.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kExportBytesMax = std::size_t{1024} * 1024 * 1024;
constexpr std::size_t kEventChars = 2000;

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
  ERRAND_TRY(auto text, read_whole_file(file, kExportBytesMax));
  auto run = parse_export(text);
  auto report = run ? engine::replay(*run) : Result<engine::ReplayReport>(run.error());
  if (report) return report;
  return json::in_file(file, text, report.error())
      .hint("'errand runs export RUN --output FILE' writes a file that can be replayed");
}

}  // namespace

int replay_run(const std::string& file) {
  ignore_broken_pipes();
  auto report = replay_file(file);
  if (!report) return fail_usage(report.error());
  int printed = print(text_of_report(*report));
  return report->difference ? kExitFailed : printed;
}

}  // namespace errand::cli
