// The feedback that people give on runs.
#include <utility>

#include "base/text.hpp"
#include "engine/engine.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

RecordKey feedback_place(const RunKey& run) {
  return {.workspace = run.workspace, .kind = std::string(kRunRecordKind), .id = run.run.str()};
}

Result<Feedback> parse_feedback_record(const Record& record) {
  ERRAND_TRY(auto body, json::parse(record.body));
  json::Fields in(body, "");
  const bool is_up = in.text("verdict") == "UP";
  Feedback feedback{.verdict = is_up ? Feedback::Verdict::up : Feedback::Verdict::down,
                    .explanation = in.text("explanation"),
                    .content = in.text("contentSnapshot")};
  return in.finish(std::move(feedback));
}

}  // namespace

Task<Result<bool>> Engine::give_feedback(Principal who, RunId run, Feedback feedback) {
  const RunKey key{.workspace = who.workspace, .run = run};
  ERRAND_CO_TRY(auto row, co_await deps_.store.find(key));
  if (!feedback.content) {
    Gate::Pass pass = co_await long_reads_.enter();
    ERRAND_CO_TRY(auto state, co_await fold_run(&deps_.store, deps_.pool, key, Fold::brief));
    const std::string* text = state->final_text();
    feedback.content = text ? *text : "";
  }
  json::Object body{{"verdict", feedback.verdict == Feedback::Verdict::up ? "UP" : "DOWN"},
                    {"explanation", feedback.explanation},
                    {"contentSnapshot", *feedback.content},
                    {"key", who.key.view()}};
  std::vector<RecordChange> changes(1);
  changes.front().key = feedback_place(key);
  changes.front().body = json::write(body);
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.change_records(std::move(changes)));
  // Removing a run removes its feedback. If the run was removed just before this feedback was
  // stored, the feedback is removed here.
  auto still_there = co_await deps_.store.find(key);
  if (!still_there && still_there.error().code() == ErrorCode::not_found) {
    std::vector<RecordChange> removal(1);
    removal.front().key = feedback_place(key);
    ERRAND_CO_CHECK(co_await deps_.store.change_records(std::move(removal)));
    co_return std::move(still_there).error();
  }
  co_return !outcome.records.empty() && outcome.records.front().version == 1;
}

Task<Result<KeptFeedback>> Engine::feedback(Principal who, RunId run) {
  const RunKey key{.workspace = who.workspace, .run = run};
  ERRAND_CO_CHECK(co_await deps_.store.find(key));
  auto record = co_await deps_.store.find_record(feedback_place(key));
  if (!record && record.error().code() == ErrorCode::not_found) {
    co_return Error(ErrorCode::not_found, "this run has no feedback");
  }
  if (!record) co_return std::move(record).error();
  auto feedback = parse_feedback_record(*record);
  if (!feedback) {
    co_return Error(ErrorCode::internal, cat("the record of the feedback on ", run.view(),
                                             " is damaged: ", feedback.error().describe()));
  }
  co_return KeptFeedback{.feedback = std::move(*feedback),
                         .created_at = record->created_at,
                         .updated_at = record->updated_at};
}

}  // namespace errand::engine
