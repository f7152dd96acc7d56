#pragma once

#include <memory>

#include "async/timers.hpp"
#include "llm/model.hpp"
#include "llm/script.hpp"

namespace errand::llm {

// A model that plays turns from a script, for testing agents without a vendor. It picks the turn by
// the number of assistant messages in the request, never by a counter, so that recovered and forked
// runs get the same answers.
class ScriptedModel final : public Model {
 public:
  ScriptedModel(Script script, Timers& timers, Executor home);

  std::unique_ptr<TurnStream> ask(TurnRequest request) override;

 private:
  const Script script_;
  Timers& timers_;
  Executor home_;
};

}  // namespace errand::llm
