// What people think of runs.
#include <utility>

#include "base/text.hpp"
#include "engine/engine.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/write.hpp"

namespace errand::engine {

Task<Result<bool>> Engine::give_feedback(Principal who, RunId run, Feedback feedback) {
  const RunKey key{.workspace = who.workspace, .run = run};
  ERRAND_CO_TRY(auto row, co_await deps_.store.find(key));
  if (!feedback.content) {
    Gate::Pass pass = co_await long_reads_.enter();
    ERRAND_CO_TRY(auto state, co_await fold_run(&deps_.store, key, Fold::brief));
    const std::string* text = state->final_text();
    feedback.content = text ? *text : "";
  }
  json::Object body{{"verdict", feedback.verdict == Feedback::Verdict::up ? "UP" : "DOWN"},
                    {"explanation", feedback.explanation},
                    {"contentSnapshot", *feedback.content},
                    {"key", who.key.view()}};
  std::vector<RecordChange> changes(1);
  changes.front().key = {.workspace = who.workspace, .kind = "feedback", .id = run.str()};
  changes.front().body = json::write(body);
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.change_records(std::move(changes)));
  co_return !outcome.records.empty() && outcome.records.front().version == 1;
}

}  // namespace errand::engine
