#pragma once

#include <functional>
#include <memory>

#include "async/blocking_pool.hpp"
#include "async/timers.hpp"
#include "llm/model.hpp"
#include "llm/script.hpp"

namespace errand::llm {

// A model without a vendor: a function chooses the turn that answers a request, and the turn is
// played at its pace. The function looks at nothing but the request and the number of assistant
// turns in it, so that a recovered or forked run gets the same answers. It runs on the pool when
// the answer is first read, or without a pool (nullptr) when the model is asked.
class PlayedModel final : public Model {
 public:
  using ChooseTurn = std::function<ScriptedTurn(const TurnRequest& request, std::size_t number)>;

  // `pool` outlives the streams.
  PlayedModel(ChooseTurn choose, OutputMechanism mechanism, Timers& timers, Executor home,
              BlockingPool* pool = nullptr);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest&) const override { return mechanism_; }

 private:
  const std::shared_ptr<const ChooseTurn> choose_;  // shared with the pool
  const OutputMechanism mechanism_;
  Timers& timers_;
  Executor home_;
  BlockingPool* const pool_;
};

}  // namespace errand::llm
