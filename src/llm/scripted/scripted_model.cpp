#include "llm/scripted/scripted_model.hpp"

#include <utility>

#include "base/text.hpp"
#include "llm/played_model.hpp"

namespace errand::llm {

std::unique_ptr<Model> make_scripted_model(Script script, Timers& timers, Executor home) {
  auto choose = [script = std::move(script)](const TurnRequest&, std::size_t number) {
    if (number < script.size()) return script[number];
    std::string message =
        cat("the script has ", script.size(), " turns, but turn ", number + 1, " was asked for");
    return ScriptedTurn{
        .failure = ModelFailure{.error_class = "invalid_request", .message = std::move(message)}};
  };
  return std::make_unique<PlayedModel>(std::move(choose), OutputMechanism::plain, timers,
                                       std::move(home));
}

}  // namespace errand::llm
