#include "agent/fold/step.hpp"

#include "agent/fold/guards.hpp"
#include "base/text.hpp"
#include "llm/failure.hpp"
#include "run/log/mail.hpp"

namespace errand::agent {
namespace {

Finish fail_with(const ModelFailure& failure) {
  return {{.status = RunStatus::failed,
           .message = failure.message,
           .error_class = failure.error_class,
           .finish_reason = ends_answer(failure) ? failure.error_class : "",
           .retryable = failure.retryable,
           .api_status = failure.api_status,
           .api_code = failure.api_code}};
}

Finish limit_met(std::string subtype, std::string message, std::string error_class = {}) {
  return {{.status = RunStatus::failed,
           .subtype = std::move(subtype),
           .message = std::move(message),
           .error_class = std::move(error_class)}};
}

Finish cancelled(const CancelEntry& cancel) {
  return {{.status = RunStatus::cancelled, .message = cancel.reason}};
}

Finish output_invalid(const State& state, std::string message) {
  return {{.status = RunStatus::failed,
           .message = std::move(message),
           .error_class = std::string(kOutputInvalid),
           .finish_reason = state.turn().end->finish_reason,
           .retryable = true}};
}

// Asks for the whole answer again because it does not fit the output schema.
Step put_right(const State& state, const std::string& mistakes, EventSeq last_seq) {
  if (state.was_repaired()) {
    return output_invalid(state, cat("the answer does not fit the output schema: ", mistakes));
  }
  return Ask{{.turn = state.turn().index + 1,
              .attempt = 1,
              .after_seq = last_seq,
              .tools_off = true,
              .repairs = true,
              .prompt = repair_prompt(mistakes)}};
}

// The turn is complete and made no calls, so its text is the answer.
Step answered(const State& state, EventSeq last_seq, json::SchemaCache& schemas,
              const Mistakes* known) {
  const TurnEndEntry& end = *state.turn().end;
  if (end.fatal) return fail_with(*end.fatal);
  if (end.finish_reason == "max_tokens") {
    return Finish{{.status = RunStatus::failed,
                   .message = "the answer was cut off at the model's output limit",
                   .error_class = std::string(kTruncation),
                   .finish_reason = end.finish_reason}};
  }
  if (auto mistakes = known ? *known : output_mistakes(state, schemas)) {
    return put_right(state, *mistakes, last_seq);
  }
  return Finish{
      {.status = RunStatus::succeeded, .subtype = "success", .finish_reason = end.finish_reason}};
}

bool timed_out_and_fails(const State& state) {
  if (state.created().limits.on_local_tool_timeout != OnTimeout::fail) return false;
  for (const CallState& call : state.turn().calls) {
    if (call.outcome && call.outcome->timed_out) return true;
  }
  return false;
}

bool has_open_host_calls(const State& state) {
  for (const CallState& call : state.turn().calls) {
    if (!call.outcome && call.tool && call.tool->site == ToolSite::host) return true;
  }
  return false;
}

Step after_calls(const State& state, EventSeq last_seq) {
  const TurnState& turn = state.turn();
  if (turn.end->fatal) return fail_with(*turn.end->fatal);
  Steering steering = steering_after(state);
  return Ask{{.turn = turn.index + 1,
              .attempt = 1,
              .after_seq = last_seq,
              .tools_off = steering.tools_off,
              .prompt = std::move(steering.nudge)}};
}

bool fails_over_turn_limit(const State& state) {
  return state.is_over_turn_limit() &&
         (state.turn().tools_off ||
          state.created().limits.on_turns_exceeded == OnTurnsExceeded::fail);
}

// Whether the vendor that rejected the request because of its output schema may be asked without
// the schema.
bool may_ask_plainly(const State& state, const llm::Failed& failed) {
  const Sparse<OutputSchema>& output = state.created().spec.output_schema;
  bool is_allowed = output && output->enforcement == Enforcement::best_effort;
  if (!is_allowed || state.is_asked_plainly()) return false;
  bool has_schema = state.created().output_mechanism != OutputMechanism::plain;
  return failed.refuses_schema || (has_schema && (llm::is_refused_question(failed.failure) ||
                                                  llm::breaks_over_format(failed.failure)));
}

// Vendors reject requests for many reasons with the same status; only the message says that the
// schema is the reason.
bool blames_schema(std::string_view message) {
  const std::string words = to_lower(message);
  for (std::string_view word : {"schema", "response_format", "output_format"}) {
    if (words.find(word) != std::string::npos) return true;
  }
  return false;
}

// The failure as the caller sees it if the run insists on its output schema.
ModelFailure as_told(const State& state, const llm::Failed& failed) {
  ModelFailure failure = failed.failure;
  const Sparse<OutputSchema>& output = state.created().spec.output_schema;
  const bool insists = output && output->enforcement == Enforcement::strict &&
                       state.created().output_mechanism != OutputMechanism::plain;
  // The fallback model may have rejected the schema after the first model failed for another
  // reason.
  const bool is_refused = llm::is_refused_question(failure) &&
                          (failed.refuses_schema || blames_schema(failure.message));
  if (insists && is_refused) failure.error_class = "structured_output_schema_rejected";
  return failure;
}

}  // namespace

const OutcomeEntry* fatal_outcome_of(const State& state) {
  for (const CallState& call : state.turn().calls) {
    if (call.outcome && call.outcome->is_fatal) return &*call.outcome;
  }
  return nullptr;
}

bool ends_answer(const ModelFailure& failure) {
  return failure.error_class == "refusal" || failure.error_class == "content_filter";
}

// The order of the checks is the order of precedence: first what ends the run, then what the turn's
// calls still need, then the next turn.
Step next_step(const State& state, EventSeq last_seq, json::SchemaCache& schemas,
               const Mistakes* known) {
  const TurnState& turn = state.turn();
  if (state.terminal()) return Ended{};
  // The stream broke off after a call that may have been made, so the turn is kept as far as it
  // came.
  if (!turn.end && !turn.calls.empty()) return Freeze{};
  if (state.cancel()) {
    return state.all_calls_finished() ? Step(cancelled(*state.cancel())) : Step(AwaitCalls{});
  }
  if (timed_out_and_fails(state)) {
    return limit_met("error_local_tool_timeout", "Timed out waiting for local tool result",
                     "local_timeout");
  }
  if (const OutcomeEntry* fatal = fatal_outcome_of(state)) {
    // Calls that this process makes may have effects, so their outcomes have to be in the log.
    if (has_open_host_calls(state)) return AwaitCalls{};
    return limit_met("error_tool_fatal", std::string(utf8_prefix(fatal->text, kErrorBytesMax)),
                     "tool_fatal");
  }
  if (turn.end) {
    if (turn.calls.empty()) return answered(state, last_seq, schemas, known);
    if (turn.repairs) {
      return output_invalid(state,
                            "the answer does not fit the output schema, and the model called tools "
                            "when it was asked to correct it");
    }
    if (fails_over_turn_limit(state)) {
      return limit_met("error_max_tool_turns",
                       cat("the run may call tools in ", state.created().limits.max_tool_turns,
                           " turns only, and the model went on to call more"));
    }
    if (turn.tools_off) {
      return limit_met("error_loop_detected",
                       "the model called the same tools again and again, and went on to call more "
                       "when it was to answer");
    }
    return state.all_calls_finished() ? after_calls(state, last_seq) : Step(AwaitCalls{});
  }
  if (!state.has_begun()) return Ask{{.turn = 0, .attempt = 1, .after_seq = last_seq}};
  // The attempt produced nothing, so the model is asked again in the same way.
  return Ask{{.turn = turn.index,
              .attempt = turn.attempt + 1,
              .after_seq = last_seq,
              .retells = turn.retells,
              .tools_off = turn.tools_off,
              .repairs = turn.repairs}};
}

Finish out_of_time(const State& state) {
  // The caller of a cancel was told that the run ends as cancelled, even if its time ends first.
  if (state.cancel()) return cancelled(*state.cancel());
  return limit_met("error_max_run_time", cat("the run took longer than ",
                                             state.created().limits.run_time.count(), " ms"));
}

Finish too_long(const State& state) {
  return limit_met(
      "error_max_conversation_bytes",
      cat("the conversation has more than ", state.created().limits.conversation_bytes.value_or(0),
          " bytes, together with the history of its session"));
}

Step after_failure(const State& state, const llm::Failed& failed, EventSeq last_seq,
                   json::SchemaCache& schemas, const Mistakes* known) {
  if (state.cancel()) return next_step(state, last_seq, schemas, known);
  const TurnState& turn = state.turn();
  if (!turn.calls.empty()) return Freeze{};
  if (turn.follows_frozen && !turn.retells && llm::is_refused_question(failed.failure)) {
    return Ask{{.turn = turn.index,
                .attempt = turn.attempt + 1,
                .after_seq = last_seq,
                .retells = true,
                .tools_off = turn.tools_off,
                .repairs = turn.repairs}};
  }
  if (may_ask_plainly(state, failed)) {
    return Ask{{.turn = turn.index,
                .attempt = turn.attempt + 1,
                .after_seq = last_seq,
                .retells = turn.retells,
                .tools_off = turn.tools_off,
                .repairs = turn.repairs,
                .plain_output = true}};
  }
  bool may_help = failed.failure.retryable && !failed.is_settled;
  if (!may_help || turn.attempt >= kTurnAttemptsMax) return fail_with(as_told(state, failed));
  return next_step(state, last_seq, schemas, known);
}

}  // namespace errand::agent
