#pragma once

#include <functional>
#include <memory>

#include "async/timers.hpp"
#include "llm/model.hpp"
#include "llm/script.hpp"

namespace errand::llm {

// A model without a vendor: a function chooses the turn that answers a request, and the turn is
// played at its pace. The function looks at nothing but the request and the number of assistant
// turns in it, so that a recovered or forked run gets the same answers.
class PlayedModel final : public Model {
 public:
  using ChooseTurn = std::function<ScriptedTurn(const TurnRequest& request, std::size_t number)>;

  PlayedModel(ChooseTurn choose, OutputMechanism mechanism, Timers& timers, Executor home);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest&) const override { return mechanism_; }

 private:
  const ChooseTurn choose_;
  const OutputMechanism mechanism_;
  Timers& timers_;
  Executor home_;
};

}  // namespace errand::llm
