#include "agent/run_trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "support/manual_clock.hpp"

namespace errand::agent::run_trace_test {
namespace {

class KeptSpans final : public SpanSink {
 public:
  void end(Span span) override { spans.push_back(std::move(span)); }
  std::vector<Span> spans;
};

std::optional<std::string> text_at(const Span& span, std::string_view key) {
  for (const auto& [name, value] : span.attributes) {
    if (name == key && std::holds_alternative<std::string>(value)) {
      return std::get<std::string>(value);
    }
  }
  return {};
}

class RunTraceTest : public testing::Test {
 protected:
  static CreatedEntry created() {
    CreatedEntry entry;
    entry.model = {.id = "fast", .provider = "google", .vendor_model_id = "gemini-3"};
    entry.at = from_millis(1000);
    return entry;
  }
  RunTrace make(std::optional<TraceContext> parent = {}) {
    return {sink_, clock_, run_, created(), parent};
  }
  static CallState call() {
    CallState call;
    call.id = ToolUseId::parse("tu_1").value();
    call.name = "look";
    return call;
  }

  ManualClock clock_{1000};
  KeptSpans sink_;
  const RunKey run_{.workspace = WorkspaceSlug::parse("default").value(),
                    .run = RunId::parse("run_1").value()};
};

TEST_F(RunTraceTest, TurnsAndCallsBelongToTheRunsSpan) {
  RunTrace trace = make();
  trace.begin_turn({.turn = 0, .attempt = 1});
  clock_.pass(milliseconds(40));
  trace.see_answer();
  trace.end_turn({.finish_reason = "tool_use", .usage = {.input_tokens = 7, .output_tokens = 3}});
  trace.begin_call(call().id);
  clock_.pass(milliseconds(5));
  trace.end_call(call(), {.id = call().id, .ok = true, .text = "secret"});
  trace.end_run({.status = RunStatus::succeeded, .subtype = "success"}, {});

  ASSERT_EQ(sink_.spans.size(), 3U);
  const auto& [turn, tool, run] = std::tie(sink_.spans[0], sink_.spans[1], sink_.spans[2]);
  EXPECT_EQ(turn.name, "chat gemini-3");
  EXPECT_EQ(text_at(turn, "gen_ai.provider.name"), "gcp.gemini");
  EXPECT_EQ(tool.name, "execute_tool look");
  EXPECT_EQ(tool.ended - tool.begun, milliseconds(5));
  EXPECT_EQ(run.name, "invoke_agent");
  EXPECT_EQ(run.begun, from_millis(1000));
  EXPECT_FALSE(run.parent);
  for (const Span* span : {&turn, &tool}) {
    EXPECT_EQ(span->parent, run.context.span);
    EXPECT_EQ(span->context.trace, run.context.trace);
    EXPECT_FALSE(span->error);
  }
  EXPECT_EQ(tool.context, trace.call_context(call().id));
}

TEST_F(RunTraceTest, ARunIsNamedAfterItsAgent) {
  CreatedEntry of_agent = created();
  of_agent.spec.name = "clerk";
  of_agent.spec.agent_id = "agt_1";
  of_agent.session = SessionId::parse("ses_1").value();
  RunTrace trace(sink_, clock_, run_, of_agent, std::nullopt);
  trace.begin_turn({.turn = 0, .attempt = 1});
  trace.end_turn({.finish_reason = "end_turn"});
  trace.end_run({.status = RunStatus::succeeded}, {});
  const Span& run = sink_.spans.back();
  EXPECT_EQ(run.name, "invoke_agent clerk");
  EXPECT_EQ(text_at(run, "gen_ai.agent.name"), "clerk");
  EXPECT_EQ(text_at(run, "gen_ai.agent.id"), "agt_1");
  EXPECT_EQ(text_at(run, "gen_ai.provider.name"), "gcp.gemini");
  for (const Span& span : sink_.spans) {
    EXPECT_EQ(text_at(span, "gen_ai.conversation.id"), "ses_1") << span.name;
  }
}

TEST_F(RunTraceTest, ACallSaysWhatItsToolHasNoted) {
  RunTrace trace = make();
  trace.begin_call(call().id);
  trace.note(call().id, "mcp.method.name", std::string("tools/call"));
  trace.note(call().id, "a2a.task.id", std::string(1'000, 'x'));
  trace.note(ToolUseId::parse("tu_2").value(), "mcp.method.name", std::string("other"));
  ToolDecl decl{.name = "look", .site = ToolSite::host, .kind = "mcp"};
  CallState made = call();
  made.tool = &decl;
  trace.end_call(made, {.id = made.id, .ok = true});
  trace.note(made.id, "mcp.method.name", std::string("late"));
  ASSERT_EQ(sink_.spans.size(), 1U);
  EXPECT_EQ(text_at(sink_.spans[0], "mcp.method.name"), "tools/call");
  EXPECT_EQ(text_at(sink_.spans[0], "a2a.task.id")->size(), 256U);
  EXPECT_EQ(text_at(sink_.spans[0], "gen_ai.tool.type"), "extension");
}

TEST_F(RunTraceTest, ARunWithACallerIsPartOfTheCallersTrace) {
  const auto caller = parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  make(caller).end_run({.status = RunStatus::succeeded}, {});
  EXPECT_EQ(sink_.spans[0].context.trace, caller->trace);
  EXPECT_EQ(sink_.spans[0].parent, caller->span);
}

TEST_F(RunTraceTest, TheNextProcessGivesTheSameIds) {
  make().end_run({.status = RunStatus::succeeded}, {});
  make().end_run({.status = RunStatus::succeeded}, {});
  EXPECT_EQ(sink_.spans[0].context, sink_.spans[1].context);
}

TEST_F(RunTraceTest, FailuresSayWhatFailedAndNotWhatTheToolSaid) {
  RunTrace trace = make();
  trace.begin_turn({.turn = 0, .attempt = 2});
  trace.fail_turn({.error_class = "overloaded", .message = "try later"});
  trace.end_call(call(), {.id = call().id, .ok = false, .text = "secret"});
  trace.end_run({.status = RunStatus::failed, .message = "try later", .error_class = "overloaded"},
                {});
  ASSERT_EQ(sink_.spans.size(), 3U);
  EXPECT_EQ(text_at(sink_.spans[0], "error.type"), "overloaded");
  EXPECT_EQ(sink_.spans[1].error, "the call failed");
  EXPECT_EQ(sink_.spans[2].error, "try later");
}

TEST_F(RunTraceTest, ACallThatWasNeverMadeHasNoSpan) {
  make().end_call(call(), {.id = call().id, .ok = false, .text = "no", .synthetic = true});
  EXPECT_TRUE(sink_.spans.empty());
}

}  // namespace
}  // namespace errand::agent::run_trace_test
