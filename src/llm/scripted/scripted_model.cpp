#include "llm/scripted/scripted_model.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "llm/failure.hpp"
#include "llm/paced_stream.hpp"

namespace errand::llm {
namespace {

// All events of a turn, cut off where the script says so.
std::vector<TurnEvent> events_of(const ScriptedTurn& turn, std::size_t turn_number) {
  if (turn.failure) return {Failed{*turn.failure}};
  std::vector<TurnEvent> events;
  for (const std::string& piece : turn.thinking) events.emplace_back(ThinkingDelta{piece});
  for (const std::string& piece : turn.text) events.emplace_back(TextDelta{piece});
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    events.emplace_back(CallClosed{.provider_id = cat("call_", turn_number, "_", i),
                                   .name = turn.calls[i].name,
                                   .arguments = turn.calls[i].arguments});
  }
  if (turn.cut_after && *turn.cut_after < events.size()) events.resize(*turn.cut_after);
  if (turn.cut_after) {
    events.emplace_back(Failed{{.error_class = "server",
                                .message = "the stream of the model broke off",
                                .retryable = true}});
    return events;
  }
  std::string reason = turn.finish_reason;
  if (reason.empty()) reason = turn.calls.empty() ? "end_turn" : "tool_use";
  // Vendors' streams end the same way.
  if (reason == error_class::kRefusal || reason == error_class::kContentFilter) {
    events.emplace_back(Failed{make_failure(reason, "the model does not give this answer")});
    return events;
  }
  events.emplace_back(Finished{.finish_reason = std::move(reason), .usage = turn.usage});
  return events;
}

}  // namespace

ScriptedModel::ScriptedModel(Script script, Timers& timers, Executor home)
    : script_(std::move(script)), timers_(timers), home_(std::move(home)) {}

std::unique_ptr<TurnStream> ScriptedModel::ask(TurnRequest request) {
  auto turn = static_cast<std::size_t>(
      std::count_if(request.messages.begin(), request.messages.end(),
                    [](const MessagePtr& message) { return message->role == Role::assistant; }));
  if (turn < script_.size()) {
    const ScriptedTurn& played = script_[turn];
    Pace pace{.delay = played.delay, .delta_delay = played.delta_delay};
    return std::make_unique<PacedStream>(events_of(played, turn), pace, timers_, home_);
  }
  std::vector<TurnEvent> events;
  events.emplace_back(Failed{{.error_class = "invalid_request",
                              .message = cat("the script has ", script_.size(), " turns, but turn ",
                                             turn + 1, " was asked for")}});
  return std::make_unique<PacedStream>(std::move(events), Pace{}, timers_, home_);
}

}  // namespace errand::llm
