#include "engine/children/agent_tools.hpp"

#include <utility>

#include "base/text.hpp"
#include "engine/children/child_reports.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/records/agent_as_tool.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kReportBytesMax = 500;
constexpr milliseconds kReadAgainAfter{500};

// An agent's name may have dots and dashes, a tool's name may not.
std::string tool_name_of(std::string name) {
  for (char& c : name) {
    if (!is_valid_tool_name({&c, 1})) c = '_';
  }
  return name;
}

void report(const ToolContext& context, const Subscription::Batch& batch) {
  if (!context.progress) return;
  for (const SegmentPtr& segment : batch.segments) {
    for (const std::string& text : child_reports(*segment, batch.after)) {
      context.progress->report({.message = std::string(utf8_prefix(text, kReportBytesMax))});
    }
  }
}

class AgentTool final : public Tool {
 public:
  AgentTool(Engine& engine, ToolDecl decl) : engine_(engine), decl_(std::move(decl)) {}
  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    AgentCall wanted{.run = call.run,
                     .id = call.id,
                     .agent = decl_.origin.upstream,
                     .version = parse_integer<std::int64_t>(decl_.origin.version).value_or(0),
                     .message = std::string(json::text_at(&call.arguments, "message"))};
    auto begun = co_await engine_.begin_child(context.who, std::move(wanted));
    if (!begun && begun.error().reason() == "draining") {
      // The next process begins the child run; until then, this call only waits to be cut off.
      co_await engine_.timers().sleep_until(context.deadline);
    }
    if (!begun) {
      co_return failed_outcome(
          cat("The agent could not be started: ", begun.error().message(), "."));
    }
    co_await follow(&engine_, *begun, context);
    auto outcome = co_await outcome_of(&engine_, context.who, begun->id);
    co_return outcome;
  }

 private:
  // Passes on the run's progress, and returns when the run has ended.
  static Task<void> follow(Engine* engine, RunRow run, ToolContext context) {
    EventSeq after = run.last_seq;
    for (;;) {
      auto reader = co_await engine->subscribe(context.who, run.id, after);
      if (!reader && reader.error().code() == ErrorCode::not_found) co_return;
      auto state = Subscription::Batch::State::broken;
      while (reader) {
        auto batch = co_await (*reader)->next(SteadyTime::max());
        report(context, batch);
        if (!batch.segments.empty()) after = batch.segments.back()->last_seq;
        state = batch.state;
        if (state == Subscription::Batch::State::ended) co_return;
        if (state == Subscription::Batch::State::broken) break;
      }
      co_await engine->timers().sleep_until(engine->timers().now() + kReadAgainAfter);
    }
  }

  static Task<ToolOutcome> outcome_of(Engine* engine, Principal who, RunId run) {
    for (;;) {
      auto view = co_await engine->get(who, run);
      if (view) co_return outcome_of(*view->state);
      if (view.error().code() != ErrorCode::unavailable) {
        co_return failed_outcome(cat("The agent's answer is lost: ", view.error().message(), "."));
      }
      co_await engine->timers().sleep_until(engine->timers().now() + kReadAgainAfter);
    }
  }

  static ToolOutcome outcome_of(const agent::State& state) {
    if (!state.terminal()) return failed_outcome("The agent's run has not ended.");
    const TerminalEntry& end = *state.terminal();
    ToolOutcome outcome;
    if (end.status == RunStatus::succeeded) {
      outcome = text_outcome(state.last_text());
    } else if (end.status == RunStatus::cancelled) {
      outcome = failed_outcome("The agent's run was cancelled.");
    } else {
      outcome = failed_outcome(cat("The agent failed: ", end.message));
    }
    outcome.child_turns = state.tool_turns();
    return outcome;
  }

  Engine& engine_;
  const ToolDecl decl_;
};

}  // namespace

Task<Result<std::vector<ToolDecl>>> AgentTools::look_up(ToolRef ref, Principal who) {
  const auto* asked = std::get_if<StoredAgent>(&ref);
  if (!asked) co_return std::vector<ToolDecl>();
  auto agent = co_await engine_.records().agents.find(who.workspace, asked->agent_id);
  if (!may_run(who, asked->agent_id, agent)) co_return agent_not_allowed(asked->agent_id);
  if (!agent && agent.error().code() == ErrorCode::not_found) {
    co_return Error(ErrorCode::invalid_argument, agent.error().message())
        .pointer("/agentId")
        .hint("'errand agents list' shows them");
  }
  if (!agent) co_return std::move(agent).error();
  auto body = json::parse(agent->body);
  ToolDecl decl = agent_as_tool(*agent, body ? body->if_object() : nullptr);
  decl.name = asked->name.empty() ? tool_name_of(agent->name) : asked->name;
  if (asked->description) decl.description = *asked->description;
  decl.annotations.long_running = true;
  decl.annotations.resumable = true;
  decl.annotations.timeout = kToolTimeoutMax;
  decl.origin.version = std::to_string(agent->version);
  decl.origin.upstream = agent->id;
  co_return std::vector<ToolDecl>{std::move(decl)};
}

ToolPtr AgentTools::open(const ToolDecl& binding, const ToolRef&, const Principal&) {
  return std::make_shared<AgentTool>(engine_, binding);
}

}  // namespace errand::engine
