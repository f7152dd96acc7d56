#pragma once

#include <memory>

#include "async/timers.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// The model that needs nothing: it calls a tool by the words of the question and tells what came
// back. The same conversation gives the same answer, so that recovery and forks replay exactly.
class DemoModel final : public Model {
 public:
  DemoModel(Timers& timers, Executor home);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;
  OutputMechanism output_mechanism(const TurnRequest&) const override {
    return OutputMechanism::native;
  }

 private:
  Timers& timers_;
  Executor home_;
};

}  // namespace errand::llm
