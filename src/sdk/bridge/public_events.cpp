#include "sdk/bridge/public_events.hpp"

#include <utility>

#include "sdk/api/values.hpp"

namespace errand::sdk {
namespace {

v1::Json arguments_of(std::string_view text) {
  return v1::detail::json_of_model(text).value_or(v1::Json());
}

std::vector<std::string> names_of(const std::vector<FilePart>& files) {
  std::vector<std::string> names;
  for (const FilePart& file : files) names.push_back(file.filename);
  return names;
}

std::map<std::string, std::string> metadata_of(const Metadata& metadata) {
  return {metadata.begin(), metadata.end()};
}

v1::Reply reply_with(const RunId& run, const RunTotals& totals, v1::RunStatus status) {
  return {.run_id = run.str(),
          .status = status,
          .usage = {.input_tokens = totals.usage.input_tokens,
                    .cached_tokens = totals.usage.cached_tokens,
                    .reasoning_tokens = totals.usage.reasoning_tokens,
                    .output_tokens = totals.usage.output_tokens},
          .turns = totals.turns,
          .model = totals.model.id,
          .output_checked = totals.output && totals.output->is_enforced};
}

struct ToReply {
  const RunId& run;

  std::optional<v1::Reply> operator()(const ResultEvent& end) const {
    bool is_success = end.subtype == "success";
    v1::Reply reply =
        reply_with(run, end.totals, is_success ? v1::RunStatus::succeeded : v1::RunStatus::failed);
    (is_success ? reply.text : reply.error) = end.text;
    if (!is_success) reply.error_kind = end.subtype;
    return reply;
  }
  std::optional<v1::Reply> operator()(const ErrorEvent& end) const {
    v1::Reply reply = reply_with(run, end.totals, v1::RunStatus::failed);
    reply.text = end.partial_text.value_or("");
    reply.error = end.message;
    reply.error_kind = end.error_class;
    return reply;
  }
  std::optional<v1::Reply> operator()(const CancelledEvent& end) const {
    v1::Reply reply = reply_with(run, end.totals, v1::RunStatus::cancelled);
    reply.error = end.reason;
    return reply;
  }
  template <class Other>
  std::optional<v1::Reply> operator()(const Other&) const {
    return {};
  }
};

struct ToPublic {
  const RunId& run;

  v1::EventData operator()(const AssistantDelta& one) const { return v1::TextDelta{one.text}; }
  v1::EventData operator()(const ThinkingDelta& one) const { return v1::ThinkingDelta{one.text}; }
  v1::EventData operator()(const AssistantMessage& one) const {
    return v1::AssistantMessage{
        .text = one.text, .turn = one.turn, .finish_reason = one.finish_reason};
  }
  v1::EventData operator()(const LocalToolCall& one) const {
    return v1::ToolCalled{.id = one.id.str(),
                          .tool = one.name,
                          .arguments = arguments_of(one.args),
                          .by_client = true};
  }
  v1::EventData operator()(const ToolCallStarted& one) const {
    return v1::ToolCalled{.id = one.id.str(),
                          .tool = one.name,
                          .arguments = arguments_of(one.input),
                          .by_client = false};
  }
  v1::EventData operator()(const LocalToolResultIn& one) const { return answered(one); }
  v1::EventData operator()(const ToolResultEvent& one) const { return answered(one); }
  v1::EventData operator()(const ToolProgress& one) const {
    return v1::ToolProgressed{.id = one.id.str(),
                              .tool = one.name,
                              .message = one.message,
                              .done = one.progress,
                              .total = one.total};
  }
  v1::EventData operator()(const LoopDetected& one) const {
    return v1::LoopDetected{.count = one.count, .hard_cutoff = one.hard_cutoff, .tools = one.tools};
  }
  v1::EventData operator()(const ToolBudgetExceeded& one) const {
    return v1::ToolBudgetExceeded{
        .tool = one.tool, .max_calls = one.max_calls, .call_index = one.call_index};
  }
  v1::EventData operator()(const TurnRestarted& one) const {
    return v1::TurnRestarted{.turn = one.turn, .attempt = one.attempt};
  }
  v1::EventData operator()(const UnknownEvent& one) const {
    return v1::UnknownEvent{.type = one.type,
                            .fields = v1::detail::from_value(json::Value(one.fields))};
  }
  template <class End>
  v1::EventData operator()(const End& end) const {
    return v1::RunEnded{*ToReply{run}(end)};
  }

 private:
  template <class Result>
  static v1::EventData answered(const Result& one) {
    return v1::ToolAnswered{.id = one.id.str(),
                            .tool = one.name,
                            .ok = one.ok,
                            .text = one.text,
                            .files = names_of(one.files)};
  }
};

}  // namespace

v1::Event public_event(const RunId& run, const StampedEvent& event) {
  return {.seq = event.seq, .data = std::visit(ToPublic{run}, event.event)};
}

v1::RunInfo public_info(const RunInfo& info) {
  v1::RunInfo out{.id = info.id.str(),
                  .name = info.name,
                  .status = static_cast<v1::RunStatus>(info.status),
                  .model = info.model_id,
                  .last_seq = info.last_seq,
                  .metadata = metadata_of(info.metadata),
                  .error = info.error,
                  .text = info.final_text};
  for (const LocalToolCall& call : info.pending) {
    out.pending_calls.push_back(
        {.id = call.id.str(), .tool = call.name, .arguments = arguments_of(call.args)});
  }
  return out;
}
static_assert(static_cast<int>(v1::RunStatus::cancelled) == static_cast<int>(RunStatus::cancelled));

v1::RunPage public_page(const RunPage& page) {
  v1::RunPage out{.next_cursor = page.next_cursor};
  for (const RunInfo& run : page.runs) out.runs.push_back(public_info(run));
  return out;
}

v1::ModelList public_models(const engine::ModelList& list) {
  v1::ModelList out{.default_id = list.default_id};
  for (const engine::ListedModel& model : list.models) {
    out.models.push_back({.id = model.info.id,
                          .label = model.label,
                          .provider = model.info.provider,
                          .vendor_model_id = model.info.vendor_model_id,
                          .context_window_tokens = model.context_window_tokens});
  }
  return out;
}

}  // namespace errand::sdk
