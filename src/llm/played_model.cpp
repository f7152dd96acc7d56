#include "llm/played_model.hpp"

#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "llm/failure.hpp"
#include "llm/paced_stream.hpp"

namespace errand::llm {
namespace {

// All events of a turn, cut off where the script says so. The number keeps the ids of its calls
// apart from those of other turns.
std::vector<TurnEvent> events_of(ScriptedTurn turn, std::size_t number) {
  if (turn.failure) return {Failed{*turn.failure}};
  std::vector<TurnEvent> events;
  for (std::string& piece : turn.thinking) events.emplace_back(ThinkingDelta{std::move(piece)});
  for (std::string& piece : turn.text) events.emplace_back(TextDelta{std::move(piece)});
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    events.emplace_back(CallClosed{.provider_id = cat("call_", number, "_", i),
                                   .name = std::move(turn.calls[i].name),
                                   .arguments = std::move(turn.calls[i].arguments)});
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

std::unique_ptr<TurnStream> play(ScriptedTurn turn, std::size_t number, Timers& timers,
                                 const Executor& home) {
  const Pace pace{.delay = turn.delay, .delta_delay = turn.delta_delay};
  return std::make_unique<PacedStream>(events_of(std::move(turn), number), pace, timers, home);
}

// Plays a turn that the pool chooses when its first events are asked for.
class AsideStream final : public TurnStream {
 public:
  using Choose = std::function<Result<ScriptedTurn>()>;
  using Play = std::function<std::unique_ptr<TurnStream>(ScriptedTurn)>;

  AsideStream(Choose choose, Play play, BlockingPool& pool)
      : choose_(std::move(choose)), play_(std::move(play)), pool_(pool) {}

  Task<std::vector<TurnEvent>> next() override {
    if (!stream_) {
      auto turn = co_await surely_aside(&pool_, std::exchange(choose_, {}));
      stream_ = play_(turn ? std::move(*turn)
                           : ScriptedTurn{.failure = make_failure(error_class::kServer,
                                                                  turn.error().message())});
      if (is_aborted_) stream_->abort();
    }
    auto events = co_await stream_->next();
    co_return events;
  }

  void abort() override {
    is_aborted_ = true;
    if (stream_) stream_->abort();
  }

 private:
  Choose choose_;  // empty once it is asked
  const Play play_;
  BlockingPool& pool_;
  std::unique_ptr<TurnStream> stream_;  // nullptr: not chosen yet
  bool is_aborted_ = false;
};

}  // namespace

PlayedModel::PlayedModel(ChooseTurn choose, OutputMechanism mechanism, Timers& timers,
                         Executor home, BlockingPool* pool)
    : choose_(std::make_shared<const ChooseTurn>(std::move(choose))),
      mechanism_(mechanism),
      timers_(timers),
      home_(std::move(home)),
      pool_(pool) {}

std::unique_ptr<TurnStream> PlayedModel::ask(TurnRequest request) {
  const std::size_t number = request.messages.answers();
  if (!pool_) return play((*choose_)(request, number), number, timers_, home_);
  // The pool may still be choosing when the model is gone.
  auto choose = [choose = choose_, request = std::move(request), number]() mutable {
    const TurnRequest asked = std::move(request);
    return Result<ScriptedTurn>((*choose)(asked, number));
  };
  auto play_turn = [this, number](ScriptedTurn turn) {
    return play(std::move(turn), number, timers_, home_);
  };
  return std::make_unique<AsideStream>(std::move(choose), std::move(play_turn), *pool_);
}

}  // namespace errand::llm
