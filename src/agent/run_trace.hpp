#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "agent/fold/state.hpp"
#include "base/clock.hpp"
#include "run/log/event.hpp"
#include "run/log/journal.hpp"
#include "store/records.hpp"
#include "telemetry/span.hpp"

namespace errand::agent {

// Tells of a run as spans: the run itself, each question to the model, each call of a tool. Ids
// follow from the ids of the run and its calls, so the spans of a run that went through several
// processes fit together. Names and attributes are OpenTelemetry's for generative AI.
class RunTrace final {
 public:
  // `parent` is the caller's span; without it the run begins a trace. `sink` and `clock` outlive
  // this.
  RunTrace(SpanSink& sink, const Clock& clock, const RunKey& run, const CreatedEntry& created,
           std::optional<TraceContext> parent);

  // The call's span, for requests that are made on its behalf.
  TraceContext call_context(const ToolUseId& call) const;

  void begin_turn(const TurnEntry& turn);
  // The first part of the answer has come.
  void see_answer();
  void end_turn(const TurnEndEntry& end);
  void fail_turn(const ModelFailure& failure);

  void begin_call(const ToolUseId& call);
  // An attribute of a call that has begun and not ended. Long texts are cut.
  void note(const ToolUseId& call, std::string_view attribute, SpanValue value);
  void end_call(const CallState& call, const OutcomeEntry& outcome);

  void end_run(const TerminalEntry& terminal, const RunTotals& totals);

 private:
  struct Turn {
    int index = 0;
    int attempt = 1;
    WallTime begun{};
    std::optional<WallTime> answered{};
  };

  struct Call {
    WallTime begun{};
    std::map<std::string, SpanValue, std::less<>> notes = {};  // by attribute
  };

  TraceContext context_of(std::string_view part) const;
  Span part_span(std::string_view part, std::string name, SpanKind kind, WallTime begun) const;
  Span turn_span(const Turn& turn, const ModelInfo& model) const;

  SpanSink& sink_;
  const Clock& clock_;
  const RunKey run_;
  const std::optional<TraceContext> parent_;
  const TraceContext context_;  // of the run's own span
  const WallTime begun_;
  const ModelInfo model_;
  const std::string agent_;  // its id; empty: the run is of no stored agent
  const std::string agent_name_;
  const std::string session_;
  const bool has_output_schema_;
  std::optional<Turn> turn_;
  std::map<ToolUseId, Call> calls_;  // calls that have begun and not ended
};

}  // namespace errand::agent
