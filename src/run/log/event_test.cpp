#include "run/log/event.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::event_test {
namespace {

ToolUseId tool_use(std::string_view text) {
  return *ToolUseId::parse(text);
}

const RunTotals kTotals{
    .usage = {.input_tokens = 4, .cached_tokens = 3, .reasoning_tokens = 2, .output_tokens = 1},
    .turns = 2,
    .model = {.id = "m", .provider = "p", .vendor_model_id = "v"}};

constexpr std::string_view kTotalsJson =
    R"("tokens":{"inputTokens":4,"cachedTokens":3,"reasoningTokens":2,"outputTokens":1},)"
    R"("turns":2,"model":{"id":"m","provider":"p","vendorModelId":"v"})";

std::string line_of(EventSeq seq, const Event& event) {
  std::string out;
  append_event_line(out, seq, event);
  return out;
}

std::string line_of(const StampedEvent& event) {
  std::string out;
  append_event_line(out, event);
  return out;
}

// The stored line of event 7, which reads back as the same event: as it was, as readers in this
// process get it, and as a line.
void expect_event(const Event& event, std::string_view type, std::string_view fields) {
  std::string line = line_of(7, event);
  EXPECT_EQ(line, cat(R"({"seq":7,"type":")", type, "\",", fields, "}\n"));
  EXPECT_EQ(line_of(7, as_shown(event)), line);
  auto read = parse_event(line);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(type_of(read->event), type);
  EXPECT_EQ(read->event.index(), event.index());
  EXPECT_EQ(read->more, json::Object());
  EXPECT_EQ(line_of(*read), line);
}

TEST(Event, AStoredLineByteForByte) {
  EXPECT_EQ(line_of(3, AssistantDelta{.text = "hi"}),
            "{\"seq\":3,\"type\":\"assistant_delta\",\"text\":\"hi\"}\n");
}

TEST(Event, Deltas) {
  expect_event(AssistantDelta{.text = "a\nb\"c"}, "assistant_delta", R"("text":"a\nb\"c")");
  expect_event(ThinkingDelta{.text = "hm"}, "thinking_delta", R"("text":"hm")");
}

TEST(Event, AssistantMessages) {
  expect_event(AssistantMessage{.text = "bye", .turn = 1, .finish_reason = "end_turn"},
               "assistant_message", R"("text":"bye","turn":1,"finishReason":"end_turn")");
  expect_event(AssistantMessage{.text = "", .turn = 0}, "assistant_message",
               R"("text":"","turn":0)");
  expect_event(AssistantMessage{.text = "look",
                                .turn = 0,
                                .finish_reason = "tool_use",
                                .calls = {{tool_use("tu_a"), "read", R"({"path":"x"})"},
                                          {tool_use("tu_b"), "list", "{}"}}},
               "assistant_message",
               R"("text":"look","turn":0,"finishReason":"tool_use",)"
               R"("toolCalls":[{"id":"tu_a","name":"read","input":{"path":"x"}},)"
               R"({"id":"tu_b","name":"list","input":{}}])");
}

TEST(Event, CallsOfTheClient) {
  expect_event(LocalToolCall{.id = tool_use("tu_a"), .name = "read", .args = R"({"path":"x"})"},
               "local_tool_call",
               R"("toolUseId":"tu_a","name":"read","args":{"path":"x"},"kind":"local")");
  expect_event(
      LocalToolCall{.id = tool_use("tu_a"),
                    .name = "fs_read",
                    .args = "{}",
                    .kind = "mcp_local",
                    .echo = std::make_shared<const json::Object>(
                        json::Object{{"mcpServer", "fs"}, {"mcpServerInfo", {{"v", 1.0}}}})},
      "local_tool_call",
      R"("toolUseId":"tu_a","name":"fs_read","args":{},"kind":"mcp_local","mcpServer":"fs",)"
      R"("mcpServerInfo":{"v":1.0})");
  expect_event(
      LocalToolResultIn{.id = tool_use("tu_a"), .name = "read", .ok = true, .text = "done"},
      "local_tool_result_in",
      R"("toolUseId":"tu_a","name":"read","result":"done","output":"done")");
  expect_event(LocalToolResultIn{.id = tool_use("tu_a"), .name = "read", .ok = false, .text = "no"},
               "local_tool_result_in", R"("toolUseId":"tu_a","name":"read","error":"no")");
  expect_event(
      LocalToolResultIn{
          .id = tool_use("tu_a"),
          .name = "read",
          .text = "done",
          .files = {{.filename = "a.png", .mime_type = "image/png", .sha256 = "00ff", .size = 12}}},
      "local_tool_result_in",
      R"("toolUseId":"tu_a","name":"read","result":"done","output":"done",)"
      R"("files":[{"filename":"a.png","mimeType":"image/png","size":12}])");
}

TEST(Event, CallsOfThisProcess) {
  expect_event(ToolCallStarted{.id = tool_use("tu_a"), .name = "clock", .input = "{}"}, "tool_call",
               R"("toolUseId":"tu_a","name":"clock","input":{})");
  expect_event(ToolResultEvent{.id = tool_use("tu_a"), .name = "clock", .ok = false, .text = "no"},
               "tool_result",
               R"("toolUseId":"tu_a","name":"clock","ok":false,"summary":"no","result":"no")");
}

TEST(Event, Guards) {
  expect_event(LoopDetected{.count = 3, .hard_cutoff = false, .tools = {"recall", "look"}},
               "loop_detected",
               R"("consecutiveCount":3,"hardCutoff":false,"tools":["recall","look"])");
  expect_event(ToolBudgetExceeded{.tool = "recall", .max_calls = 4, .call_index = 5},
               "tool_budget_exceeded", R"("tool":"recall","maxCalls":4,"callIndex":5)");
}

TEST(Event, RestartedTurns) {
  expect_event(TurnRestarted{.turn = 1, .attempt = 2}, "turn_restarted", R"("turn":1,"attempt":2)");
}

TEST(Event, Results) {
  expect_event(ResultEvent{.subtype = "success", .text = "bye", .totals = kTotals}, "result",
               cat(R"("ok":true,"subtype":"success","text":"bye",)", kTotalsJson));
  expect_event(
      ResultEvent{.subtype = "error_max_tool_turns", .text = "too many", .totals = kTotals},
      "result",
      cat(R"("ok":false,"subtype":"error_max_tool_turns","error":"too many",)",
          R"("message":"too many",)", kTotalsJson));
}

TEST(Event, Errors) {
  expect_event(ErrorEvent{.message = "no", .error_class = "auth", .totals = kTotals}, "error",
               cat(R"("error":"no","message":"no","code":"auth","errorClass":"auth",)",
                   R"("retryable":false,)", kTotalsJson));
  expect_event(
      ErrorEvent{.message = "cut",
                 .error_class = "truncated",
                 .finish_reason = "max_tokens",
                 .partial_text = "so f",
                 .retryable = true,
                 .totals = kTotals},
      "error",
      cat(R"("error":"cut","message":"cut","code":"truncated","errorClass":"truncated",)",
          R"("finishReason":"max_tokens","partialText":"so f","retryable":true,)", kTotalsJson));
}

TEST(Event, Cancellations) {
  expect_event(CancelledEvent{.reason = "user", .totals = kTotals}, "cancelled",
               cat(R"("reason":"user",)", kTotalsJson));
}

TEST(Event, AnErrorTellsWhatTheVendorAnswered) {
  expect_event(ErrorEvent{.message = "slow down",
                          .error_class = "rate_limit",
                          .finish_reason = "",
                          .partial_text = {},
                          .api_status = 429,
                          .api_code = "too_fast",
                          .retryable = true,
                          .totals = kTotals},
               "error",
               cat(R"("error":"slow down","message":"slow down","code":"rate_limit",)",
                   R"("errorClass":"rate_limit","apiStatus":429,"apiCode":"too_fast",)",
                   R"("retryable":true,)", kTotalsJson));
}

TEST(Event, EveryEndTellsWhatBecameOfTheOutputSchema) {
  RunTotals totals = kTotals;
  totals.model.reasoning_effort = "low";
  totals.output = {.is_enforced = true, .mechanism = OutputMechanism::native, .fell_back = false};
  std::string shown =
      R"("tokens":{"inputTokens":4,"cachedTokens":3,"reasoningTokens":2,"outputTokens":1},)"
      R"("turns":2,"model":{"id":"m","provider":"p","vendorModelId":"v","reasoningEffort":"low"},)"
      R"("structuredOutput":{"schemaRequested":true,"schemaEnforced":true,)"
      R"("enforcementMechanism":"native_schema","unconstrainedFallbackOccurred":false})";
  expect_event(ResultEvent{.subtype = "success", .text = "{}", .totals = totals}, "result",
               cat(R"("ok":true,"subtype":"success","text":"{}",)", shown));
  expect_event(CancelledEvent{.reason = "user", .totals = totals}, "cancelled",
               cat(R"("reason":"user",)", shown));
}

TEST(Event, ALongResultIsShownCutWithItsFullLength) {
  std::string whole(kShownResultBytesMax, 'x');
  std::string cut = whole + "y";
  expect_event(ToolResultEvent{.id = tool_use("tu_a"), .name = "t", .text = whole}, "tool_result",
               cat(R"("toolUseId":"tu_a","name":"t","ok":true,"summary":")", whole,
                   R"(","result":")", whole, "\""));
  expect_event(ToolResultEvent{.id = tool_use("tu_a"), .name = "t", .text = cut}, "tool_result",
               cat(R"("toolUseId":"tu_a","name":"t","ok":true,"summary":")", whole,
                   R"(","result":")", whole, R"(","truncated":true,"fullLength":65537)"));
  expect_event(LocalToolResultIn{.id = tool_use("tu_a"), .name = "t", .ok = true, .text = cut},
               "local_tool_result_in",
               cat(R"("toolUseId":"tu_a","name":"t","result":")", whole, R"(","output":")", whole,
                   R"(","truncated":true,"fullLength":65537)"));
  expect_event(LocalToolResultIn{.id = tool_use("tu_a"), .name = "t", .ok = false, .text = cut},
               "local_tool_result_in",
               cat(R"("toolUseId":"tu_a","name":"t","error":")", whole,
                   R"(","truncated":true,"fullLength":65537)"));
}

TEST(Event, ACutResultEndsWithAWholeCharacter) {
  std::string before(kShownResultBytesMax - 1, 'x');
  expect_event(
      LocalToolResultIn{
          .id = tool_use("tu_a"), .name = "t", .ok = false, .text = before + "\xC3\xA9"},
      "local_tool_result_in",
      cat(R"("toolUseId":"tu_a","name":"t","error":")", before,
          R"(","truncated":true,"fullLength":65537)"));
}

TEST(Event, NoTextCanBreakALineOrAFrame) {
  std::string line = line_of(1, AssistantDelta{.text = "\n\n\r\ndata: x\n\nid: 9\xFF\xE2\x80\xA8"});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line,
            "{\"seq\":1,\"type\":\"assistant_delta\","
            "\"text\":\"\\n\\n\\r\\ndata: x\\n\\nid: 9\xEF\xBF\xBD\xE2\x80\xA8\"}\n");
}

TEST(Event, ATypeThatIsNotKnownIsAValue) {
  expect_event(UnknownEvent{.type = "ping", .fields = {{"text", "a"}, {"n", {1, 2.5, nullptr}}}},
               "ping", R"("text":"a","n":[1,2.5,null])");
}

TEST(Event, AMemberThatIsNotKnownIsRelayed) {
  auto read = parse_event(R"({"seq":9,"type":"assistant_delta","mood":{"a":1},"text":"hi"})");
  EXPECT_EQ(line_of(*read),
            "{\"seq\":9,\"type\":\"assistant_delta\",\"text\":\"hi\",\"mood\":{\"a\":1}}\n");
}

TEST(Event, WhatIsMissingIsEmpty) {
  auto read = parse_event(R"({"seq":9007199254740993,"type":"local_tool_call"})");
  EXPECT_EQ(read->seq, 9'007'199'254'740'993);
  EXPECT_EQ(std::get<LocalToolCall>(read->event).args, "{}");
  EXPECT_TRUE(std::get<LocalToolCall>(read->event).id.empty());
  EXPECT_TRUE(
      std::get<ToolResultEvent>(parse_event(R"({"seq":1,"type":"tool_result"})")->event).ok);
}

TEST(Event, WhatIsNoEventIsRefused) {
  auto why = [](std::string_view line) {
    auto read = parse_event(line);
    return read ? "none" : read.error().message();
  };
  EXPECT_EQ(why("[]"), "an event is not a JSON object");
  EXPECT_EQ(why(R"({"type":"ping"})"), "an event has no number");
  EXPECT_EQ(why(R"({"seq":"1","type":"ping"})"), "an event has no number");
  EXPECT_EQ(why(R"({"seq":1})"), "an event has no type");
  EXPECT_EQ(why(R"({"seq":1,"type":"assistant_delta","text":7})"),
            "\"text\" of an event is not what it should be");
  EXPECT_EQ(why(R"({"seq":1,"type":"turn_restarted","turn":3000000000})"),
            "\"turn\" of an event is not what it should be");
  EXPECT_EQ(why(R"({"seq":1,"type":"tool_call","toolUseId":"a b"})"),
            "\"toolUseId\" of an event is not what it should be");
  EXPECT_EQ(why("{"), "an event is not a JSON object");
}

TEST(Event, AReaderInThisProcessGetsALongResultCut) {
  Event shown = as_shown(ToolResultEvent{
      .id = tool_use("tu_a"), .name = "t", .text = std::string(kShownResultBytesMax + 1, 'x')});
  EXPECT_EQ(std::get<ToolResultEvent>(shown).text.size(), kShownResultBytesMax);
  EXPECT_EQ(std::get<ToolResultEvent>(shown).full_length, kShownResultBytesMax + 1);
}

}  // namespace
}  // namespace errand::event_test
