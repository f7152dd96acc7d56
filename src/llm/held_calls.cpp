#include "llm/held_calls.hpp"

#include <utility>

namespace errand::llm {
namespace {

using Events = std::vector<TurnEvent>;

class HeldCallsTurn final : public TurnStream {
 public:
  explicit HeldCallsTurn(std::unique_ptr<TurnStream> stream) : stream_(std::move(stream)) {}

  Task<Events> next() override {
    Events out;
    while (out.empty()) {
      Events events = co_await stream_->next();
      for (TurnEvent& event : events) take(std::move(event), out);
    }
    co_return out;
  }

  void abort() override { stream_->abort(); }

 private:
  void take(TurnEvent event, Events& out) {
    bool is_held =
        std::holds_alternative<BlockClosed>(event) || std::holds_alternative<CallClosed>(event);
    if (std::holds_alternative<Finished>(event)) {
      std::move(held_.begin(), held_.end(), std::back_inserter(out));
    }
    (is_held ? held_ : out).push_back(std::move(event));
  }

  const std::unique_ptr<TurnStream> stream_;
  Events held_;  // an answer has at most kAnswerBytesMax bytes
};

}  // namespace

std::unique_ptr<TurnStream> HeldCallsModel::ask(TurnRequest request) {
  return std::make_unique<HeldCallsTurn>(model_->ask(std::move(request)));
}

}  // namespace errand::llm
