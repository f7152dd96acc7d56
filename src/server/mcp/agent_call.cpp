#include "server/mcp/agent_call.hpp"

#include <utility>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/records/agent_as_tool.hpp"
#include "engine/records/agents.hpp"
#include "json/parse.hpp"
#include "mcp/tool_result.hpp"
#include "store/segment_events.hpp"

namespace errand::server {
namespace {

mcp::CallOutcome text_result(std::string text, bool is_error) {
  return mcp::CallToolResult{.content = {mcp::TextContent{std::move(text)}}, .is_error = is_error};
}

// The run of one call. Cancels it if the caller leaves before the run has ended.
class CalledRun final {
 public:
  CalledRun(AgentCallDeps deps, Principal who, RunId run)
      : deps_(deps), who_(std::move(who)), run_(std::move(run)) {}
  ~CalledRun() {
    // When the process stops, its runs continue in the next process.
    if (is_over_ || deps_.engine.is_draining()) return;
    deps_.cancelling.spawn("mcp.cancel", cancel(&deps_.engine, who_, run_));
  }
  CalledRun(const CalledRun&) = delete;
  CalledRun& operator=(const CalledRun&) = delete;

  void note_end() { is_over_ = true; }

 private:
  static Task<void> cancel(engine::Engine* engine, Principal who, RunId run) {
    // The cancel fails if the run has ended meanwhile, which is fine.
    [[maybe_unused]] auto cancelled = co_await engine->cancel(std::move(who), std::move(run));
  }

  const AgentCallDeps deps_;
  const Principal who_;
  const RunId run_;
  bool is_over_ = false;
};

// Reports the progress of a run to a client, as a number that only rises.
class RunProgress final {
 public:
  explicit RunProgress(mcp::ServedCall& call) : call_(call) {}

  void tell(std::string message) {
    call_.report({.progress = ++told_, .total = {}, .message = std::move(message)});
  }
  void take(const Event& event) {
    if (const auto* started = std::get_if<ToolCallStarted>(&event)) {
      tell(cat("calls ", started->name));
    } else if (const auto* local = std::get_if<LocalToolCall>(&event)) {
      tell(cat("waits for a client that answers ", local->name));
    } else if (const auto* progress = std::get_if<ToolProgress>(&event)) {
      if (!progress->message.empty()) tell(cat(progress->name, ": ", progress->message));
    } else if (const auto* said = std::get_if<AssistantMessage>(&event)) {
      if (!said->calls.empty() && !said->text.empty()) tell(said->text);
    }
  }

 private:
  mcp::ServedCall& call_;
  double told_ = 0;
};

mcp::CallOutcome outcome_of(const engine::RunView& view) {
  const auto& end = view.state->terminal();
  const std::string* text = view.state->final_text();
  if (!end || end->status != RunStatus::succeeded) {
    std::string_view why = end ? std::string_view(end->message) : std::string_view();
    return text_result(cat("The run ", view.row.id.view(), " of the agent ended as ",
                           to_string(view.row.status), why.empty() ? "" : ": ", why),
                       true);
  }
  mcp::CallOutcome outcome = text_result(text ? *text : std::string(), false);
  if (view.state->totals().output && text) {
    auto value = json::parse(*text);
    if (value && value->is_object()) {
      std::get<mcp::CallToolResult>(outcome).structured_content = std::move(*value);
    }
  }
  return outcome;
}

using State = engine::Subscription::Batch::State;

// Reads the run's events until the run ends, or until the reader is interrupted.
Task<State> follow(engine::Subscription* subscription, RunProgress* progress) {
  for (;;) {
    auto batch = co_await subscription->next(SteadyTime::max());
    for (const SegmentPtr& segment : batch.segments) {
      for_each_event(*segment, batch.after, [progress](std::string_view line) {
        auto event = parse_event(line);
        if (event) progress->take(event->event);
      });
    }
    if (batch.state == State::ended || batch.state == State::broken) co_return batch.state;
  }
}

}  // namespace

Task<Result<std::vector<AgentAsTool>>> agents_as_tools(NamedRecords* agents, Principal who,
                                                       std::size_t limit) {
  ERRAND_CO_TRY(auto page, co_await agents->list(who.workspace, "", limit));
  std::vector<mcp::Tool> named;
  for (const NamedRecord& record : page.records) named.push_back({.name = record.name});
  // Names are made before the caller's agents are picked, so that an agent has the same name for
  // all callers.
  std::vector<std::string> names = mcp::vendor_names("agent", named);
  std::vector<AgentAsTool> out;
  Breath breath(kBytesInABreath);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NamedRecord& record = page.records[i];
    if (!engine::may_run(who, record.name, record)) continue;
    if (breath.is_due(record.body.size())) co_await let_others_run();
    auto body = engine::agent_json(record);
    if (!body) continue;
    ToolDecl decl = engine::agent_as_tool(record, &*body);
    decl.name = names[i];
    out.push_back({.id = record.id, .decl = std::move(decl)});
  }
  co_return out;
}

Task<Result<mcp::CallOutcome>> call_agent(AgentCallDeps deps, Principal who, std::string agent,
                                          std::string message, mcp::ServedCall* call) {
  Spec spec;
  spec.prompt = std::move(message);
  spec.agent_id = std::move(agent);
  auto run = co_await deps.engine.create(who, std::move(spec), {});
  if (!run) co_return text_result(run.error().describe(), true);
  CalledRun called(deps, who, *run);
  RunProgress progress(*call);
  progress.tell(cat("the run is ", run->view()));
  ERRAND_CO_TRY(auto subscription, co_await deps.engine.subscribe(who, *run, 0));
  Interrupt::Scope leaving(&call->interrupt(), [&subscription] { subscription->interrupt(); });
  if (call->interrupt().is_raised()) co_return text_result("The call was cancelled.", true);
  State state = co_await follow(subscription.get(), &progress);
  if (call->interrupt().is_raised()) co_return text_result("The call was cancelled.", true);
  if (state == State::broken) {
    called.note_end();
    co_return text_result(cat("The server is shutting down. The run ", run->view(), " goes on."),
                          true);
  }
  called.note_end();
  ERRAND_CO_TRY(auto view, co_await deps.engine.get(who, *run));
  co_return outcome_of(view);
}

}  // namespace errand::server
