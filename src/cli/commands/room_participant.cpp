#include "cli/commands/room_participant.hpp"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/agent/room_place.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "room/client/room_outcome.hpp"
#include "room/client/room_tool.hpp"
#include "sdk/internal/command_room.hpp"
#include "sdk/internal/command_runner.hpp"
#include "sdk/internal/wait_for.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kLineChars = 2'000;
constexpr std::int64_t kTokenMillis = 30LL * 24 * 3'600'000;

// The participant that joins, for the token that the server makes.
struct Who {
  std::string name;
  std::string role;
};

Result<RoomPlace> address_of_room(const std::string& room, const sdk::ServerFlags& flags,
                                  const Who& who) {
  ERRAND_TRY(RoomPlace place, room_place(room));
  if (place.name.empty()) return place;
  ERRAND_TRY(auto client, sdk::client_of_server(flags));
  sdk::ApiRequest request{.method = sdk::Method::post,
                          .path = cat("/rooms/", percent_encode(place.name), "/tokens"),
                          .body = json::write(json::Object{
                              {"name", who.name}, {"role", who.role}, {"ttlMs", kTokenMillis}})};
  ERRAND_TRY(auto made, client->ask(std::move(request)));
  return RoomPlace{.url = text_of(made, "url"), .token = text_of(made, "token")};
}

// A participant, and its work between joining and leaving.
class Visit final {
 public:
  using Work = std::function<Task<Result<int>>(Visit*)>;

  using OnEvent = std::function<void(const room::Message&)>;

  Visit() : signals_(io_), lent_(sdk::CommandRunner::at_server(io_, {})) {}

  // Joins, works and leaves. Returns the exit code.
  int run(RoomPlace room, const Work& work, OnEvent on_event = {}) {
    auto made = sdk::make_command_room(io_, std::move(room), std::move(on_event));
    if (!made) return fail_usage(made.error());
    room_ = std::move(*made);
    auto code = sdk::wait_for(io_, live(work));
    return code ? *code : fail(code.error());
  }

  sdk::RoomCore& room() { return *room_; }
  // Lends the tools of this process.
  sdk::CommandRunner& lent() { return *lent_; }

  // Returns when a signal arrives.
  Task<void> until_signal() {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    [[maybe_unused]] auto woken = co_await signals_.async_wait(as_result);
  }

 private:
  Task<Result<int>> live(Work work) {
    auto joined = co_await room_->join();
    Result<int> code = kExitOk;
    if (joined) {
      code = co_await work(this);
    } else {
      code = joined.error();
    }
    co_await room_->stop();
    co_return code;
  }

  asio::io_context io_{1};
  asio::signal_set signals_;
  const std::unique_ptr<sdk::CommandRunner> lent_;
  std::shared_ptr<sdk::RoomCore> room_;
};

void to_stderr(std::string_view line) {
  [[maybe_unused]] auto written = write_fully(STDERR_FILENO, cat(line, "\n"));
}

// ---- call ---------------------------------------------------------------------------------------

Task<Result<int>> call_and_print(Visit* visit, room::InvokeParams params, Form form) {
  params.on_progress = [](const json::Object& event) {
    ProgressReport report = room::progress_of(event);
    to_stderr(clean_line(report.message, kLineChars));
  };
  ERRAND_CO_TRY(auto contents, co_await visit->room().call(std::move(params)));
  if (form == Form::json) {
    for (const room::Content& one : contents) print_json(json::Value(one.header));
  }
  ToolOutcome outcome = room::to_outcome(std::move(contents));
  if (!outcome.ok()) {
    co_return Error(ErrorCode::conflict, text_of(outcome));
  }
  if (form != Form::json) {
    std::string text = flatten(std::move(outcome.content)).text;
    if (!text.empty()) print(cat(text, "\n"));
  }
  co_return kExitOk;
}

// ---- host ---------------------------------------------------------------------------------------

Task<Result<int>> host_until_signal(Visit* visit, RoomHostOptions options) {
  if (!options.mcp.empty()) {
    std::vector<std::string> servers{options.mcp};
    ERRAND_CO_TRY(auto failures, co_await visit->lent().connect_for_others(std::move(servers)));
    if (!failures.empty()) {
      co_await visit->lent().disconnect();
      co_return failures.front();
    }
  }
  std::string name = options.name;
  if (name.empty()) name = options.mcp.empty() ? "files" : "mcp";
  const std::vector<ToolPtr>& tools = visit->lent().tools();
  auto hosted = co_await visit->room().host_tools(name, tools);
  if (hosted) {
    to_stderr(cat("hosting ", tools.size(), " tools as toolkit \"", name, "\"; Ctrl-C ends"));
    co_await visit->until_signal();
    [[maybe_unused]] auto removed = co_await visit->room().client().unhost(*hosted);
  }
  co_await visit->lent().disconnect();
  if (!hosted) co_return std::move(hosted).error();
  co_return kExitOk;
}

// ---- tail ---------------------------------------------------------------------------------------

std::string event_line(const room::Message& message, Form form) {
  auto header = json::parse(message.header);
  if (!header) return {};
  if (form == Form::json) {
    json::Object line{{"type", message.type}};
    line["header"] = std::move(*header);
    return cat(json::write(json::Value(std::move(line))), "\n");
  }
  if (message.type != "messaging.send") {
    return cat(message.type, " ", clean_line(json::write(*header), kLineChars), "\n");
  }
  std::string body;
  if (const json::Value* said = member(*header, "message")) body = json::write(*said);
  std::string from = text_of(*header, "from_participant_id");
  return cat(clean_line(text_of(*header, "type"), kLineChars), from.empty() ? "" : " from ",
             clean_line(from, kLineChars), " ", clean_line(body, kLineChars), "\n");
}

Task<Result<int>> wait_for_signal(Visit* visit) {
  co_await visit->until_signal();
  co_return kExitOk;
}

}  // namespace

int call_in_room(const RoomCallOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto arguments = json::parse(options.arguments);
  if (!arguments || !arguments->is_object()) {
    return fail_usage(Error(ErrorCode::invalid_argument,
                            "JSON: expected an object, such as {\"city\": \"Rome\"}"));
  }
  auto address =
      address_of_room(options.room, options.server, {.name = "errand room call", .role = "user"});
  if (!address) return fail(address.error());
  room::InvokeParams params{.toolkit = options.toolkit,
                            .tool = options.tool,
                            .arguments = room::json_content(std::move(*arguments))};
  Visit visit;
  return visit.run(std::move(*address),
                   [&](Visit* here) { return call_and_print(here, params, options.form); });
}

int host_in_room(const RoomHostOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  if (options.files.empty() == options.mcp.empty()) {
    return fail_usage(
        Error(ErrorCode::invalid_argument, "say what to lend: --files DIR or --mcp SERVER"));
  }
  Visit visit;
  auto lent =
      visit.lent().lend({.files = options.files,
                         .withheld = sdk::credentials_file(sdk::data_directory(options.server))});
  if (!lent) return fail_usage(lent.error());
  const std::string name = cat("errand room host ", options.name);
  auto address = address_of_room(options.room, options.server,
                                 {.name = std::string(trim(name)), .role = "tool"});
  if (!address) return fail(address.error());
  return visit.run(std::move(*address),
                   [&](Visit* here) { return host_until_signal(here, options); });
}

int tail_room(const AnswerOptions& options, const std::string& room) {
  std::signal(SIGPIPE, SIG_IGN);
  auto address =
      address_of_room(room, options.server, {.name = "errand rooms tail", .role = "user"});
  if (!address) return fail(address.error());
  Visit visit;
  return visit.run(
      std::move(*address), wait_for_signal,
      [form = options.form](const room::Message& message) { print(event_line(message, form)); });
}

}  // namespace errand::cli
