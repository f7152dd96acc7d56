#include "room/client/room_tool.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "room/client/room_outcome.hpp"

namespace errand::room {
namespace {

constexpr std::size_t kAnswerBytesMax = 8U * 1024 * 1024;
constexpr std::size_t kReportBytesMax = 500;

std::optional<double> number_at(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  if (!value || !value->is_number()) return {};
  return value->to_number<double>();
}

constexpr milliseconds kLookAgainFirst{50};
constexpr milliseconds kLookAgainMax{1'000};

class RoomTool final : public errand::Tool {
 public:
  RoomTool(RoomToolDeps deps, BoundTool bound, ToolDecl decl)
      : deps_(std::move(deps)), bound_(std::move(bound)), decl_(std::move(decl)) {}

  const ToolDecl& decl() const override { return decl_; }

  // A host that is gone may be reconnecting, as all hosts do after a restart.
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    const SteadyTime patience = deps_.timers.now() + deps_.host_wait;
    milliseconds pause = kLookAgainFirst;
    for (;;) {
      auto client = co_await deps_.find(context.secrets);
      if (!client) co_return failed_outcome(sentence(client.error().message()));
      auto outcome = co_await try_once(*client, call, context);
      if (outcome) co_return std::move(*outcome);
      if (outcome.error().reason() != kHostGone) co_return to_outcome(outcome.error());
      if (deps_.timers.now() >= patience)
        co_return failed_outcome(sentence(outcome.error().message()));
      co_await deps_.timers.sleep_until(std::min(patience, deps_.timers.now() + pause));
      pause = std::min(pause * 2, kLookAgainMax);
    }
  }

 private:
  // The reason of an error which says that no tool was called.
  static constexpr std::string_view kHostGone = "host_gone";

  Task<Result<ToolOutcome>> try_once(std::shared_ptr<RoomClient> client, ToolCall call,
                                     ToolContext context) const {
    InvokeParams params{.toolkit = bound_.toolkit, .tool = bound_.tool};
    if (!bound_.participant_name.empty()) {
      ERRAND_CO_TRY(params.participant_id, co_await host_in(client));
    }
    params.caller_context = {{"runId", call.run.view()}, {"toolUseId", call.id.view()}};
    params.arguments =
        bound_.takes_text ? text_input(call.arguments) : json_content(std::move(call.arguments));
    if (context.who.trace) params.traceparent = to_traceparent(*context.who.trace);
    if (ProgressSink* sink = context.progress) {
      params.on_progress = [sink](const json::Object& event) { sink->report(progress_of(event)); };
    }
    ERRAND_CO_TRY(auto made, client->invoke(std::move(params)));
    ERRAND_CO_TRY(auto answer, co_await whole_answer(std::move(made), kAnswerBytesMax));
    if (is_not_there(answer)) co_return host_gone();
    co_return to_outcome(std::move(answer));
  }

  // Whether the room says that nobody offers the toolkit. A tool may fail with the same code.
  bool is_not_there(const std::vector<Content>& answer) const {
    if (answer.size() != 1 || kind_of(answer[0].header) != ContentKind::error) return false;
    const bool is_not_found =
        json::integer_at(&answer[0].header, "code") == static_cast<int>(RoomCode::not_found);
    return is_not_found && json::text_at(&answer[0].header, "text") ==
                               cat("toolkit ", bound_.toolkit, " was not found");
  }

  Error host_gone() const {
    std::string who = bound_.participant_name.empty()
                          ? "nobody in the room"
                          : cat("the participant \"", bound_.participant_name, "\" does not");
    std::string offers = bound_.participant_name.empty() ? " offers" : " offer";
    return Error(ErrorCode::not_found,
                 cat(who, offers, " the toolkit \"", bound_.toolkit, "\" at the moment"))
        .reason(kHostGone);
  }

  static std::string sentence(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
      text[0] = static_cast<char>(text[0] - 'a' + 'A');
    }
    return cat(text, ".");
  }

  static Content text_input(const json::Object& arguments) {
    return {.header = {{"type", "text"}, {"text", json::text_at(&arguments, "text")}}};
  }

  // The id of the participant that hosts the toolkit at the moment.
  Task<Result<std::string>> host_in(std::shared_ptr<RoomClient> client) const {
    ERRAND_CO_TRY(auto there, co_await client->list({.participant_name = bound_.participant_name}));
    for (ListedToolkit& toolkit : there) {
      if (toolkit.name == bound_.toolkit) co_return std::move(toolkit.participant_id);
    }
    co_return host_gone();
  }

  const RoomToolDeps deps_;
  const BoundTool bound_;
  const ToolDecl decl_;
};

}  // namespace

ProgressReport progress_of(const json::Object& event) {
  ProgressReport report{.progress = number_at(event, "progress"),
                        .total = number_at(event, "total")};
  for (std::string_view key : {"message", "headline", "text"}) {
    if (report.message.empty()) report.message = json::text_at(&event, key);
  }
  if (report.message.empty() && !report.progress) json::write(report.message, event);
  report.message = utf8_prefix(report.message, kReportBytesMax);
  return report;
}

Task<Result<std::vector<Content>>> whole_answer(RoomCallPtr call, std::size_t bytes_max) {
  ERRAND_CO_TRY(Content answer, co_await call->answer());
  std::vector<Content> out;
  // The room's error when the host has left: nobody knows what became of the call.
  if (kind_of(answer.header) == ContentKind::error) {
    Error error = error_of(answer.header);
    if (error.code() == ErrorCode::outcome_unknown) co_return error;
  }
  if (!is_open(answer.header)) {
    out.push_back(std::move(answer));
    co_return out;
  }
  std::size_t bytes = 0;
  for (;;) {
    ERRAND_CO_TRY(std::optional<Content> item, co_await call->next());
    if (!item) co_return out;
    bytes += json::write(json::Value(item->header)).size() + item->bytes.size();
    if (bytes > bytes_max) {
      co_return Error(ErrorCode::too_large,
                      cat("the streamed answer is larger than ", bytes_max, " bytes"));
    }
    out.push_back(std::move(*item));
  }
}

ToolPtr make_room_tool(RoomToolDeps deps, BoundTool bound, ToolDecl decl) {
  return std::make_shared<RoomTool>(std::move(deps), std::move(bound), std::move(decl));
}

}  // namespace errand::room
