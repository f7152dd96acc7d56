#include "agent/run_trace.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"

namespace errand::agent {
namespace {

constexpr std::string_view kOperation = "gen_ai.operation.name";
constexpr std::string_view kRequestModel = "gen_ai.request.model";
constexpr std::string_view kErrorType = "error.type";
constexpr std::string_view kConversation = "gen_ai.conversation.id";
constexpr std::string_view kProvider = "gen_ai.provider.name";

constexpr std::size_t kNoteBytesMax = 256;

SpanId span_id_of(std::string_view name) {
  const crypto::Sha256 digest = crypto::sha256(name);
  SpanId id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

TraceId trace_id_of(std::string_view name) {
  const crypto::Sha256 digest = crypto::sha256(name);
  TraceId id;
  std::copy_n(digest.begin(), id.size(), id.begin());
  return id;
}

// The run's own span: in the caller's trace, or in a new one.
TraceContext context_in(const std::optional<TraceContext>& parent, const RunId& run) {
  TraceContext context = parent.value_or(TraceContext{.trace = trace_id_of(run.view())});
  context.span = span_id_of(cat(run.view(), "/run"));
  return context;
}

std::string_view provider_name(std::string_view provider) {
  if (provider == "google") return "gcp.gemini";
  if (provider == "azure-openai") return "azure.ai.openai";
  if (provider == "bedrock") return "aws.bedrock";
  if (provider == "xai") return "x_ai";
  return provider;
}

std::string named(std::string_view operation, std::string_view what) {
  return what.empty() ? std::string(operation) : cat(operation, " ", what);
}

void add_usage(Span& span, const Usage& usage) {
  span.attributes.emplace_back("gen_ai.usage.input_tokens", usage.input_tokens);
  span.attributes.emplace_back("gen_ai.usage.output_tokens", usage.output_tokens);
  if (usage.cached_tokens > 0) {
    span.attributes.emplace_back("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
  }
  if (usage.reasoning_tokens > 0) {
    span.attributes.emplace_back("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens);
  }
}

void add_error(Span& span, std::string type, std::string message) {
  span.attributes.emplace_back(kErrorType, std::move(type));
  span.error = std::move(message);
}

}  // namespace

RunTrace::RunTrace(SpanSink& sink, const Clock& clock, const RunKey& run,
                   const CreatedEntry& created, std::optional<TraceContext> parent)
    : sink_(sink),
      clock_(clock),
      run_(run),
      parent_(parent),
      context_(context_in(parent, run.run)),
      begun_(created.at),
      model_(created.model),
      agent_(created.spec.agent_id),
      agent_name_(created.spec.name),
      session_(created.session.str()),
      has_output_schema_(created.spec.output_schema.has_value()) {}

TraceContext RunTrace::context_of(std::string_view part) const {
  TraceContext context = context_;
  context.span = span_id_of(cat(run_.run.view(), "/", part));
  return context;
}

TraceContext RunTrace::call_context(const ToolUseId& call) const {
  return context_of(call.view());
}

Span RunTrace::part_span(std::string_view part, std::string name, SpanKind kind,
                         WallTime begun) const {
  return {.context = context_of(part),
          .parent = context_.span,
          .name = std::move(name),
          .kind = kind,
          .begun = begun,
          .ended = clock_.now(),
          .attributes = {{"errand.run.id", run_.run.str()}}};
}

void RunTrace::begin_turn(const TurnEntry& turn) {
  turn_ = Turn{.index = turn.turn, .attempt = turn.attempt, .begun = clock_.now()};
}

void RunTrace::see_answer() {
  if (turn_ && !turn_->answered) turn_->answered = clock_.now();
}

Span RunTrace::turn_span(const Turn& turn, const ModelInfo& model) const {
  Span span = part_span(cat("turn ", turn.index, " ", turn.attempt),
                        named("chat", model.vendor_model_id), SpanKind::client, turn.begun);
  span.attributes.emplace_back(kOperation, "chat");
  span.attributes.emplace_back(kProvider, std::string(provider_name(model.provider)));
  span.attributes.emplace_back(kRequestModel, model.vendor_model_id);
  span.attributes.emplace_back("gen_ai.request.stream", true);
  if (has_output_schema_) span.attributes.emplace_back("gen_ai.output.type", std::string("json"));
  if (!session_.empty()) span.attributes.emplace_back(kConversation, session_);
  span.attributes.emplace_back("errand.turn", std::int64_t{turn.index});
  span.attributes.emplace_back("errand.attempt", std::int64_t{turn.attempt});
  if (turn.answered) {
    const std::chrono::duration<double> waited = *turn.answered - turn.begun;
    span.attributes.emplace_back("gen_ai.response.time_to_first_chunk", waited.count());
  }
  return span;
}

void RunTrace::end_turn(const TurnEndEntry& end) {
  if (!turn_) return;
  Span span = turn_span(*turn_, end.answered_by ? end.answered_by->model : model_);
  span.attributes.emplace_back("gen_ai.response.finish_reasons",
                               std::vector<std::string>{end.finish_reason});
  add_usage(span, end.usage);
  if (end.fatal) add_error(span, end.fatal->error_class, end.fatal->message);
  turn_.reset();
  sink_.end(std::move(span));
}

void RunTrace::fail_turn(const ModelFailure& failure) {
  if (!turn_) return;
  Span span = turn_span(*turn_, model_);
  add_error(span, failure.error_class, failure.message);
  turn_.reset();
  sink_.end(std::move(span));
}

void RunTrace::begin_call(const ToolUseId& call) {
  calls_.emplace(call, Call{.begun = clock_.now()});
}

void RunTrace::note(const ToolUseId& call, std::string_view attribute, SpanValue value) {
  auto known = calls_.find(call);
  if (known == calls_.end()) return;
  if (auto* text = std::get_if<std::string>(&value))
    text->resize(utf8_prefix(*text, kNoteBytesMax).size());
  known->second.notes[std::string(attribute)] = std::move(value);
}

void RunTrace::end_call(const CallState& call, const OutcomeEntry& outcome) {
  auto begun = calls_.extract(call.id);
  // A call that was never made has no span. If another process began the call, its span starts
  // here.
  if (outcome.synthetic) return;
  Span span = part_span(call.id.view(), named("execute_tool", call.name), SpanKind::internal,
                        begun ? begun.mapped().begun : clock_.now());
  span.attributes.emplace_back(kOperation, "execute_tool");
  span.attributes.emplace_back("gen_ai.tool.name", call.name);
  span.attributes.emplace_back("gen_ai.tool.call.id", call.id.str());
  if (call.tool) {
    const bool is_clients = call.tool->site == ToolSite::client;
    span.attributes.emplace_back("gen_ai.tool.type",
                                 std::string(is_clients ? "function" : "extension"));
    span.attributes.emplace_back("errand.tool.kind", call.tool->kind);
  }
  if (begun) {
    for (auto& [attribute, value] : begun.mapped().notes) {
      span.attributes.emplace_back(attribute, std::move(value));
    }
  }
  // The words of the tool may hold secrets, so they stay in the run's log.
  if (!outcome.ok) add_error(span, outcome.timed_out ? "timeout" : "tool_error", "the call failed");
  sink_.end(std::move(span));
}

void RunTrace::end_run(const TerminalEntry& terminal, const RunTotals& totals) {
  Span span{.context = context_,
            .parent = parent_ ? std::optional(parent_->span) : std::nullopt,
            .name = named("invoke_agent", agent_name_),
            .kind = SpanKind::internal,
            .begun = begun_,
            .ended = clock_.now(),
            .attributes = {{std::string(kOperation), "invoke_agent"},
                           {"errand.run.id", run_.run.str()},
                           {"errand.workspace", run_.workspace.str()},
                           {"errand.run.status", std::string(to_string(terminal.status))},
                           {std::string(kProvider), std::string(provider_name(model_.provider))},
                           {std::string(kRequestModel), model_.vendor_model_id}}};
  if (!agent_.empty()) span.attributes.emplace_back("gen_ai.agent.id", agent_);
  if (!agent_name_.empty()) span.attributes.emplace_back("gen_ai.agent.name", agent_name_);
  if (has_output_schema_) span.attributes.emplace_back("gen_ai.output.type", std::string("json"));
  if (!session_.empty()) span.attributes.emplace_back(kConversation, session_);
  add_usage(span, totals.usage);
  if (terminal.status == RunStatus::failed) {
    add_error(span, terminal.error_class.empty() ? terminal.subtype : terminal.error_class,
              terminal.message);
  }
  sink_.end(std::move(span));
}

}  // namespace errand::agent
