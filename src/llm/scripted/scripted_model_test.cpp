#include "llm/scripted/scripted_model.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::llm::scripted_model_test {
namespace {

// An event as one line of text, so that whole answers can be compared.
struct Line {
  std::string operator()(const AnsweredBy& by) const { return "answered by " + by.model.id; }
  std::string operator()(const TextDelta& event) const { return cat("text ", event.text); }
  std::string operator()(const ThinkingDelta& event) const { return cat("thinking ", event.text); }
  std::string operator()(const BlockClosed& event) const { return cat("block ", event.json); }
  std::string operator()(const CallClosed& event) const {
    return cat("call ", event.provider_id, " ", event.name, " ", event.arguments);
  }
  std::string operator()(const Finished& event) const {
    return cat("finished ", event.finish_reason, " in=", event.usage.input_tokens,
               " out=", event.usage.output_tokens);
  }
  std::string operator()(const Failed& event) const {
    const ModelFailure& failure = event.failure;
    return cat("failed ", failure.error_class, failure.retryable ? " retryable " : " final ",
               failure.api_status, " ", failure.api_code, ": ", failure.message);
  }
};

using Lines = std::vector<std::string>;

class ScriptedModelTest : public testing::Test {
 protected:
  // Asks after `assistant_turns` answers were given.
  std::unique_ptr<TurnStream> ask(std::string_view script, std::size_t assistant_turns = 0) {
    model_ = make_scripted_model(parse_script(script).value(), timers_, io_.get_executor());
    messages_.assign(1, Message{.role = Role::user, .text = "hi"});
    for (std::size_t i = 0; i < assistant_turns; ++i) {
      messages_.push_back({.role = Role::assistant, .text = "earlier"});
      messages_.push_back({.role = Role::user, .text = "and then?"});
    }
    return model_->ask({.messages = share_messages(messages_)});
  }

  Lines next(TurnStream& stream) {
    Lines lines;
    for (const TurnEvent& event : run_task(io_, stream.next()))
      lines.push_back(std::visit(Line(), event));
    return lines;
  }
  Lines play(std::string_view script, std::size_t assistant_turns = 0) {
    auto stream = ask(script, assistant_turns);
    return next(*stream);
  }

  // Reads in the background and leaves what came in `seen_`.
  Task<void> read_all(TurnStream* stream) {
    for (;;) {
      std::vector<TurnEvent> events = co_await stream->next();
      for (const TurnEvent& event : events) seen_.push_back(std::visit(Line(), event));
      if (seen_.back().starts_with("fin") || seen_.back().starts_with("failed")) co_return;
    }
  }
  void start_reading(TurnStream* stream) {
    group_.spawn("read", read_all(stream));
    run_ready(io_);
  }
  void advance(milliseconds by) {
    timers_.advance(by);
    run_ready(io_);
  }

  static constexpr std::string_view kAborted =
      "failed server retryable 0 : the stream of the model was closed";

  asio::io_context io_{1};
  ManualTimers timers_;
  std::vector<Message> messages_;
  std::unique_ptr<Model> model_;
  Lines seen_;
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(ScriptedModelTest, ATurnIsPlayedInOrder) {
  EXPECT_EQ(play(R"({"turns":[{"thinking":["hm"],"text":["a","b"],
                     "toolCalls":[{"name":"x","args":{"n":1.0}},{"name":"y"},
                                  {"name":"z","rawArgs":"{oops"}],
                     "usage":{"inputTokens":5,"outputTokens":3}}]})"),
            (Lines{"thinking hm", "text a", "text b", R"(call call_0_0 x {"n":1.0})",
                   "call call_0_1 y {}", "call call_0_2 z {oops", "finished tool_use in=5 out=3"}));
}

TEST_F(ScriptedModelTest, TheReasonOfTheEndFollowsFromTheCallsUnlessItIsGiven) {
  EXPECT_EQ(play(R"({"turns":[{"text":["a"]}]})"),
            (Lines{"text a", "finished end_turn in=0 out=0"}));
  EXPECT_EQ(play(R"({"turns":[{"finishReason":"max_tokens"}]})"),
            Lines{"finished max_tokens in=0 out=0"});
}

TEST_F(ScriptedModelTest, AnAnswerThatIsRefusedOrFilteredFails) {
  EXPECT_EQ(play(R"({"turns":[{"text":["a"],"finishReason":"refusal"}]})"),
            (Lines{"text a", "failed refusal final 0 : the model does not give this answer"}));
  EXPECT_EQ(play(R"({"turns":[{"finishReason":"content_filter"}]})"),
            Lines{"failed content_filter final 0 : the model does not give this answer"});
}

TEST_F(ScriptedModelTest, TheTurnIsPickedByTheAssistantMessages) {
  constexpr std::string_view kScript =
      R"({"turns":[{"text":["one"]},{"toolCalls":[{"name":"two"}]},{"text":["three"]}]})";
  EXPECT_EQ(play(kScript, 2), (Lines{"text three", "finished end_turn in=0 out=0"}));
  EXPECT_EQ(play(kScript, 0), (Lines{"text one", "finished end_turn in=0 out=0"}));
  EXPECT_EQ(play(kScript, 1), (Lines{"call call_1_0 two {}", "finished tool_use in=0 out=0"}));
  EXPECT_EQ(play(kScript, 1), (Lines{"call call_1_0 two {}", "finished tool_use in=0 out=0"}));
}

TEST_F(ScriptedModelTest, AnExhaustedScriptFailsForGood) {
  EXPECT_EQ(
      play(R"({"turns":[{"text":["one"]},{"text":["two"]}]})", 2),
      Lines{"failed invalid_request final 0 : the script has 2 turns, but turn 3 was asked for"});
}

TEST_F(ScriptedModelTest, AStreamBreaksOffWhereTheScriptSaysSo) {
  constexpr std::string_view kBroken =
      "failed server retryable 0 : the stream of the model broke off";
  auto cut_after = [&](int pieces) {
    return play(cat(R"({"turns":[{"text":["a","b"],"toolCalls":[{"name":"x"}],"cutAfter":)", pieces,
                    "}]}"));
  };
  EXPECT_EQ(cut_after(0), Lines{std::string(kBroken)});
  EXPECT_EQ(cut_after(1), (Lines{"text a", std::string(kBroken)}));
  EXPECT_EQ(cut_after(3), (Lines{"text a", "text b", "call call_0_0 x {}", std::string(kBroken)}));
  EXPECT_EQ(cut_after(9), (Lines{"text a", "text b", "call call_0_0 x {}", std::string(kBroken)}));
}

TEST_F(ScriptedModelTest, AnErrorTurnSaysNothingElse) {
  EXPECT_EQ(
      play(R"({"turns":[{"text":["a"],"error":{"status":529,"code":"busy","message":"later"}}]})"),
      Lines{"failed overloaded retryable 529 busy: later"});
}

TEST_F(ScriptedModelTest, TheClassOfAnErrorFollowsFromItsStatus) {
  auto error = [&](int status) {
    return play(cat(R"({"turns":[{"error":{"status":)", status, "}}]}")).at(0);
  };
  EXPECT_EQ(error(400), "failed invalid_request final 400 : the model answered 400");
  EXPECT_EQ(error(401), "failed auth final 401 : the model answered 401");
  EXPECT_EQ(error(403), "failed auth final 403 : the model answered 403");
  EXPECT_EQ(error(408), "failed timeout retryable 408 : the model answered 408");
  EXPECT_EQ(error(429), "failed rate_limit retryable 429 : the model answered 429");
  EXPECT_EQ(error(500), "failed server retryable 500 : the model answered 500");
  EXPECT_EQ(error(503), "failed overloaded retryable 503 : the model answered 503");
  EXPECT_EQ(error(504), "failed timeout retryable 504 : the model answered 504");
  EXPECT_EQ(error(529), "failed overloaded retryable 529 : the model answered 529");
}

TEST_F(ScriptedModelTest, ADelayComesBeforeTheFirstEvent) {
  auto stream = ask(R"({"turns":[{"text":["a","b"],"delayMs":1000}]})");
  start_reading(stream.get());
  advance(milliseconds(999));
  EXPECT_EQ(seen_, Lines{});
  advance(milliseconds(1));
  EXPECT_EQ(seen_, (Lines{"text a", "text b", "finished end_turn in=0 out=0"}));
  run_task(io_, group_.join());
}

TEST_F(ScriptedModelTest, ADeltaDelayComesBeforeEachFurtherEvent) {
  auto stream = ask(R"({"turns":[{"text":["a","b"],"delayMs":10,"deltaDelayMs":100}]})");
  start_reading(stream.get());
  advance(milliseconds(10));
  EXPECT_EQ(seen_, Lines{"text a"});
  advance(milliseconds(99));
  EXPECT_EQ(seen_, Lines{"text a"});
  advance(milliseconds(1));
  EXPECT_EQ(seen_, (Lines{"text a", "text b"}));
  advance(milliseconds(100));
  EXPECT_EQ(seen_, (Lines{"text a", "text b", "finished end_turn in=0 out=0"}));
  run_task(io_, group_.join());
}

TEST_F(ScriptedModelTest, ErrorTurnsWaitTheirDelayToo) {
  auto stream = ask(R"({"turns":[{"delayMs":5,"error":{"status":500}}]})");
  start_reading(stream.get());
  EXPECT_EQ(seen_, Lines{});
  advance(milliseconds(5));
  EXPECT_EQ(seen_, Lines{"failed server retryable 500 : the model answered 500"});
  run_task(io_, group_.join());
}

TEST_F(ScriptedModelTest, AbortEndsADelayAtOnce) {
  auto stream = ask(R"({"turns":[{"text":["a"],"delayMs":1000}]})");
  start_reading(stream.get());
  stream->abort();
  run_task(io_, group_.join());
  EXPECT_EQ(seen_, Lines{std::string(kAborted)});
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(ScriptedModelTest, AbortBetweenEventsDropsTheRest) {
  auto stream = ask(R"({"turns":[{"text":["a","b"],"deltaDelayMs":100}]})");
  EXPECT_EQ(next(*stream), Lines{"text a"});
  stream->abort();
  EXPECT_EQ(next(*stream), Lines{std::string(kAborted)});
  EXPECT_EQ(next(*stream), Lines{std::string(kAborted)});
}

TEST_F(ScriptedModelTest, AfterTheLastEventTheStreamHasFailed) {
  auto stream = ask(R"({"turns":[{"text":["a"]}]})");
  EXPECT_EQ(next(*stream), (Lines{"text a", "finished end_turn in=0 out=0"}));
  EXPECT_EQ(next(*stream), Lines{std::string(kAborted)});
}

TEST_F(ScriptedModelTest, AReaderCancelledInADelayLeavesNoTimer) {
  auto stream = ask(R"({"turns":[{"text":["a"],"delayMs":1000}]})");
  start_reading(stream.get());
  EXPECT_EQ(timers_.pending(), 1U);
  run_task(io_, group_.stop(CancelReason::user_stop));
  stream.reset();
  EXPECT_EQ(timers_.pending(), 0U);
}

TEST_F(ScriptedModelTest, ManyTurnsAreAskedAtOnce) {
  auto slow = ask(R"({"turns":[{"text":["slow"],"delayMs":1000},{"text":["fast"]}]})");
  std::vector<Message> later = messages_;
  later.push_back({.role = Role::assistant, .text = "earlier"});
  auto fast = model_->ask({.messages = share_messages(later)});
  start_reading(slow.get());
  EXPECT_EQ(next(*fast), (Lines{"text fast", "finished end_turn in=0 out=0"}));
  advance(milliseconds(1000));
  EXPECT_EQ(seen_, (Lines{"text slow", "finished end_turn in=0 out=0"}));
  run_task(io_, group_.join());
}

}  // namespace
}  // namespace errand::llm::scripted_model_test
