#include "tool/builtin/shell_tool.hpp"

#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "process/subprocess.hpp"
#include "tool/builtin/kept_output.hpp"
#include "tool/builtin/shell_environment.hpp"
#include "tool/safe_text.hpp"

namespace errand {
namespace {

ToolDecl shell_decl() {
  json::Object command = {
      {"type", "string"},
      {"minLength", 1},
      {"description", "What /bin/sh is to run, such as ls -l | head. It cannot read input."}};
  json::Object timeout = {{"type", "integer"},
                          {"minimum", 1},
                          {"maximum", ShellTool::kSecondsMax},
                          {"description", cat("Seconds until it is ended; ",
                                              ShellTool::kDefaultSeconds, " if left out")}};
  json::Object properties = {{"command", std::move(command)},
                             {"timeoutSeconds", std::move(timeout)}};
  return {.name = "shell",
          .description =
              "Run a command in the user's directory and read what it prints. Each call is a new "
              "shell: directory and variables do not carry over, and what runs in the background "
              "is ended with it. The user may refuse. Long output is cut in the middle.",
          .input_schema = share_schema({{"type", "object"},
                                        {"properties", std::move(properties)},
                                        {"required", json::Array{"command"}},
                                        {"additionalProperties", false}}),
          .site = ToolSite::host,
          .annotations = {.parallel_safe = false,
                          .destructive = true,
                          .timeout = ShellTool::kDecisionMax + seconds(ShellTool::kSecondsMax)}};
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? cat("SIG", name) : cat("signal ", number);
}

std::string how_it_ended(const process::ProcessEnd& end) {
  if (end.signal != 0) return cat("The command was ended by ", signal_name(end.signal), ".");
  return cat("Exit code ", end.exit_code, ".");
}

std::string with_output(std::string status, const KeptOutput& output) {
  std::string text = output.text();
  return text.empty() ? cat(status, " It printed nothing.") : cat(status, "\n", text);
}

}  // namespace

ShellTool::ShellTool(ShellOptions options, Approver& approver)
    : options_(std::move(options)), approver_(approver), decl_(shell_decl()) {}

Task<ToolOutcome> ShellTool::invoke(ToolCall call, ToolContext) {
  json::Value arguments = std::move(call.arguments);
  json::Fields in(arguments, "");
  std::string command = in.text("command");
  seconds limit(in.optional_integer("timeoutSeconds", 1, kSecondsMax).value_or(kDefaultSeconds));
  if (in.ok() && command.find('\0') != std::string::npos) {
    in.fail("command", "a command cannot hold a NUL character");
  }
  if (in.ok() && command.size() > kCommandBytesMax) {
    in.fail("command", cat("the command is longer than ", kCommandBytesMax,
                           " bytes: write it in smaller steps"));
  }
  auto checked = in.finish();
  if (!checked) co_return failed_outcome(checked.error().describe());

  std::string shown = to_visible_line(command);
  ApprovalRequest request{
      .run = call.run, .call = call.id, .what = cat("run ", shown), .command = std::move(shown)};
  bool is_approved = co_await approver_.approve(std::move(request));
  if (!is_approved) {
    co_return failed_outcome(
        "The user refused to let this command run. Nothing was done. Do not try it again in "
        "another form; go on without it, or ask what to do instead.");
  }
  auto outcome = co_await run(std::move(command), limit);
  co_return outcome;
}

Task<ToolOutcome> ShellTool::run(std::string command, seconds limit) const {
  SteadyTime deadline = std::chrono::steady_clock::now() + limit;
  Executor home = co_await asio::this_coro::executor;
  auto spawned =
      process::Subprocess::spawn(home, {.command = {"/bin/sh", "-c", std::move(command)},
                                        .environment = shell_environment(options_.environment),
                                        .directory = options_.directory,
                                        .grace = options_.grace});
  if (!spawned) co_return failed_outcome(spawned.error().describe());
  process::Subprocess& process = **spawned;
  KeptOutput output;
  for (;;) {
    process::ProcessEvent event = co_await process.next(deadline);
    if (event.kind == process::ProcessEvent::Kind::output) {
      output.add(event.output);
      continue;
    }
    if (event.kind == process::ProcessEvent::Kind::ended) break;
    co_await process.stop();
    co_return failed_outcome(with_output(
        cat("The command took longer than ", limit.count(), " s and was ended."), output));
  }
  process::ProcessEnd end = process.end();
  std::string text = with_output(how_it_ended(end), output);
  co_return end == process::ProcessEnd{} ? text_outcome(std::move(text))
                                         : failed_outcome(std::move(text));
}

}  // namespace errand
