#include "cli/terminal/report.hpp"

#include <unistd.h>

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

int fail_with(const Error& error, int exit_code) {
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, describe_for_people(error));
  return exit_code;
}

}  // namespace

int with_server(const sdk::ServerFlags& flags, const std::function<int(sdk::ApiClient&)>& work) {
  ignore_broken_pipes();
  auto client = sdk::client_of_server(flags);
  return client ? work(**client) : fail_setup(client.error());
}

std::string describe_for_people(const Error& error) {
  std::string candidates;
  for (const std::string& one : error.candidates())
    append(candidates, candidates.empty() ? "" : ", ", one);
  std::string hint = error.hint();
  if (hint.empty() && !candidates.empty()) hint = "there are";
  if (!candidates.empty()) append(hint, ": ", candidates);
  std::string out = cat("errand: ", clean_text(error.describe()), "\n");
  if (!hint.empty()) append(out, "hint: ", clean_text(hint), "\n");
  return out;
}

int exit_code_of(const Error& error) {
  // A 403 that points into the request is about the request, such as an agent that does not exist.
  bool is_refused = error.code() == ErrorCode::unauthorized ||
                    (error.code() == ErrorCode::forbidden && error.pointer().empty());
  bool is_unreachable = error.reason() == sdk::RunApi::kUnreachable;
  return is_refused || is_unreachable ? kExitUnreachable : kExitFailed;
}

int fail(const Error& error) {
  return fail_with(error, exit_code_of(error));
}

int fail_usage(const Error& error) {
  return fail_with(error, kExitUsage);
}

int setup_exit_code(const Error& error) {
  bool is_missing = error.code() == ErrorCode::not_found || error.code() == ErrorCode::unauthorized;
  return is_missing ? kExitUnreachable : kExitUsage;
}

int fail_setup(const Error& error) {
  return fail_with(error, setup_exit_code(error));
}

int print(std::string_view text) {
  auto written = write_fully(STDOUT_FILENO, text);
  if (written || written.error().reason() == kOutputClosed) return kExitOk;
  return fail(written.error());
}

int print_json(const json::Value& value) {
  return print(escape_json_controls(json::write(value)) + "\n");
}

}  // namespace errand::cli
