#include "cli/local_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "cli/console.hpp"
#include "cli/terminal_text.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kErrorBytesMax = 4096;  // the server takes twice as much

std::string answer_body(const std::string& tool_use, const ToolAnswer& answer) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("toolUseId", tool_use);
  if (answer.ok) {
    out.field("result", answer.text);
  } else {
    out.field("error", utf8_prefix(answer.text, kErrorBytesMax));
  }
  out.end();
  return body;
}

struct CallTool {
  const FilesTool* tool;
  std::string name;
  json::Value args;

  Result<ToolAnswer> operator()() const { return tool->call(name, args); }
};

}  // namespace

LocalCalls::LocalCalls(ApiClient& api, Timers& timers, Executor home, FilesTool tool)
    : api_(api),
      timers_(timers),
      tool_(std::move(tool)),
      pool_(kThreads, kQueueMax),
      tasks_(std::move(home), report_bug) {}

void LocalCalls::start(const std::string& run, const RunEvent& call) {
  std::string id(call.text("toolUseId"));
  if (id.empty() || !calls_.emplace(id, std::nullopt).second) return;
  const json::Value* args = call.fields.if_contains("args");
  tasks_.spawn("tool call", work(run, std::move(id), std::string(call.text("name")),
                                 args ? *args : json::Value(json::Object())));
}

std::optional<milliseconds> LocalCalls::took(std::string_view tool_use) const {
  auto found = calls_.find(tool_use);
  return found == calls_.end() ? std::nullopt : found->second;
}

Task<void> LocalCalls::work(std::string run, std::string tool_use, std::string name,
                            json::Value args) {
  SteadyTime started = timers_.now();
  CallTool call{.tool = &tool_, .name = std::move(name), .args = std::move(args)};
  auto answer = co_await pool_.run(std::move(call));
  calls_[tool_use] = std::chrono::duration_cast<milliseconds>(timers_.now() - started);
  if (!answer) answer = ToolAnswer{.ok = false, .text = answer.error().message()};
  co_await post(std::move(run), answer_body(tool_use, *answer));
}

// 404 and 409 mean that an earlier attempt was heard, or that the run is over.
Task<void> LocalCalls::post(std::string run, std::string body) {
  milliseconds pause = kPauseFirst;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    ApiRequest request{
        .method = net::Method::post, .path = run_path(run, "/tool-results"), .body = body};
    auto posted = co_await api_.send(std::move(request));
    if (posted || posted.error().code() == ErrorCode::not_found ||
        posted.error().code() == ErrorCode::conflict) {
      co_return;
    }
    if (!is_worth_retrying(posted.error())) {
      std::string note = cat("errand: the answer to a tool call was refused: ",
                             clean_text(posted.error().describe()), "\n");
      [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
      co_return;
    }
    co_await timers_.sleep_until(timers_.now() + pause);
    pause = std::min(pause * 2, kPauseMax);
  }
}

void report_bug(const char* task, const std::string& what) {
  std::string note = cat("errand: a bug in \"", task, "\": ", clean_text(what), "\n");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
}

}  // namespace errand::cli
