#include "llm/played_model.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "llm/failure.hpp"
#include "llm/paced_stream.hpp"

namespace errand::llm {
namespace {

// All events of a turn, cut off where the script says so. The number keeps the ids of its calls
// apart from those of other turns.
std::vector<TurnEvent> events_of(const ScriptedTurn& turn, std::size_t number) {
  if (turn.failure) return {Failed{*turn.failure}};
  std::vector<TurnEvent> events;
  for (const std::string& piece : turn.thinking) events.emplace_back(ThinkingDelta{piece});
  for (const std::string& piece : turn.text) events.emplace_back(TextDelta{piece});
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    events.emplace_back(CallClosed{.provider_id = cat("call_", number, "_", i),
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
  // The stream of a vendor ends the same way.
  if (reason == error_class::kRefusal || reason == error_class::kContentFilter) {
    events.emplace_back(Failed{make_failure(reason, "the model does not give this answer")});
    return events;
  }
  events.emplace_back(Finished{.finish_reason = std::move(reason), .usage = turn.usage});
  return events;
}

}  // namespace

PlayedModel::PlayedModel(ChooseTurn choose, OutputMechanism mechanism, Timers& timers,
                         Executor home)
    : choose_(std::move(choose)), mechanism_(mechanism), timers_(timers), home_(std::move(home)) {}

std::unique_ptr<TurnStream> PlayedModel::ask(TurnRequest request) {
  const auto number = static_cast<std::size_t>(std::ranges::count(
      request.messages, Role::assistant, [](const auto& one) { return one->role; }));
  const ScriptedTurn turn = choose_(request, number);
  const Pace pace{.delay = turn.delay, .delta_delay = turn.delta_delay};
  return std::make_unique<PacedStream>(events_of(turn, number), pace, timers_, home_);
}

}  // namespace errand::llm
