// What is shown of a run, on terminals and elsewhere.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "cli/show/event_printer.hpp"
#include "cli/show/plain_printer.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/show/terminal_printer.hpp"
#include "cli/terminal/text_width.hpp"

namespace errand::cli::printer_test {
namespace {

ToolUseId tool_use(std::string_view text) {
  return *ToolUseId::parse(text);
}
StampedEvent stamped(Event event) {
  return {.seq = 1, .event = std::move(event)};
}
StampedEvent said(std::string text) {
  return stamped(AssistantDelta{.text = std::move(text)});
}
StampedEvent thought(std::string text) {
  return stamped(ThinkingDelta{.text = std::move(text)});
}

Piece out(std::string text) {
  return {.to = Piece::To::out, .text = std::move(text)};
}
Piece err(std::string text) {
  return {.to = Piece::To::err, .text = std::move(text)};
}

TEST(PlainPrinter, ShowsTextAndCallsOnLinesOfTheirOwn) {
  PlainPrinter printer;
  EXPECT_EQ(printer.show(said("Let me"), {}), (Pieces{out("Let me")}));
  EXPECT_EQ(
      printer.show(stamped(LocalToolCall{.name = "read_file", .args = R"({"path":"a"})"}), {}),
      (Pieces{out("\n"), err("-> read_file {\"path\":\"a\"}\n")}));
  EXPECT_EQ(printer.show(stamped(AssistantMessage{.text = "Let me"}), {}), Pieces());
  EXPECT_EQ(printer.show(stamped(LocalToolResultIn{.name = "read_file", .text = "a\nb"}),
                         milliseconds(3)),
            (Pieces{err("<- read_file 2 lines, 3 ms\n")}));
  EXPECT_EQ(printer.finish(), Pieces());
}

TEST(PlainPrinter, ShowsTheFinalAnswerAloneIfThatIsAskedFor) {
  PlainPrinter printer(Answer::final);
  EXPECT_EQ(printer.show(said("Let me look."), {}), Pieces());
  EXPECT_EQ(printer.show(stamped(AssistantMessage{.text = "Let me look."}), {}), Pieces());
  EXPECT_EQ(printer.show(stamped(ResultEvent{.subtype = "success", .text = "{}"}), {}),
            (Pieces{out("{}")}));
  EXPECT_EQ(printer.finish(), (Pieces{out("\n")}));
  EXPECT_EQ(printer.show(stamped(ResultEvent{.subtype = "error_max_tool_turns", .text = "no"}), {}),
            Pieces());
}

TEST(JsonPrinter, SaysWhoseEventsTheyAreAndWhyThereAreNoMore) {
  auto printer = make_printer(Form::json, {});
  printer->begin(*RunId::parse("run_1"));
  EXPECT_EQ(printer->show(said("Hi"), {}),
            (Pieces{out(R"({"seq":1,"type":"assistant_delta","text":"Hi","runId":"run_1"})"
                        "\n")}));
  EXPECT_EQ(printer->bad_end(Error(ErrorCode::conflict, "the run failed")), Pieces());
  EXPECT_EQ(printer->failure(Error(ErrorCode::unavailable, "no").hint("try")),
            (Pieces{out(R"({"type":"error","error":"no","message":"no","code":"unavailable",)"
                        R"("hint":"try","runId":"run_1"})"
                        "\n")}));
}

TEST(PlainPrinter, ShowsResultsOfAllKinds) {
  PlainPrinter printer;
  auto shown = [&](Event event) {
    return printer.show(stamped(std::move(event)), {}).front().text;
  };
  EXPECT_EQ(shown(ToolResultEvent{.name = "t", .text = ""}), "<- t empty\n");
  EXPECT_EQ(shown(ToolResultEvent{.name = "t", .text = "a\n"}), "<- t 1 line\n");
  EXPECT_EQ(shown(ToolResultEvent{.name = "t", .text = "a", .full_length = 70000}),
            "<- t 70000 bytes\n");
  EXPECT_EQ(shown(ToolResultEvent{.name = "t", .ok = false, .text = "no\x1b such"}),
            "<- t failed: no\\x1b such\n");
  EXPECT_EQ(shown(LocalToolResultIn{.name = "t", .ok = false, .text = "gone"}),
            "<- t failed: gone\n");
}

TEST(PlainPrinter, ANoteLeavesStdoutAlone) {
  PlainPrinter printer;
  EXPECT_EQ(printer.note("a"), (Pieces{err("errand: a\n")}));
  printer.show(said("open"), {});
  EXPECT_EQ(printer.note("a"), (Pieces{err("\n"), err("errand: a\n")}));
  EXPECT_EQ(printer.finish(), (Pieces{out("\n")}));
}

TEST(PlainPrinter, ALineOfTheLogLeavesStdoutAlone) {
  PlainPrinter printer;
  printer.show(said("open"), {});
  EXPECT_EQ(printer.log_line("12:00 warning slow disk"),
            (Pieces{err("\n"), err("12:00 warning slow disk\n")}));
  EXPECT_EQ(printer.finish(), (Pieces{out("\n")}));
}

TEST(PlainPrinter, NoTextOfAModelReachesTheTerminalRaw) {
  PlainPrinter text;
  StampedEvent delta = said(
      "\x1b]0;x\x07\u009b"
      "2J\x7f");
  EXPECT_EQ(text.show(delta, {}), (Pieces{out("\\x1b]0;x\\x07\\x9b2J\\x7f")}));
  EXPECT_EQ(make_printer(Form::json, {})->show(delta, {}),
            (Pieces{out("{\"seq\":1,\"type\":\"assistant_delta\","
                        "\"text\":\"\\u001b]0;x\\u0007\\u009b2J\\u007f\"}\n")}));
}

TEST(PlainPrinter, ThinkingGoesToStderrOnLinesOfItsOwn) {
  PlainPrinter printer;
  EXPECT_EQ(printer.show(thought("hm"), {}), (Pieces{err("hm")}));
  EXPECT_EQ(printer.show(said("Yes"), {}), (Pieces{err("\n"), out("Yes")}));
  EXPECT_EQ(printer.aside("demo, 1 turn"), (Pieces{out("\n"), err("demo, 1 turn\n")}));
}

// A terminal whose size a test chooses.
class TerminalPrinterTest : public testing::Test {
 protected:
  std::string call(std::string_view id, std::string args) {
    LocalToolCall call{.id = tool_use(id), .name = "read", .args = std::move(args)};
    return text_of(printer_.show(stamped(std::move(call)), {}));
  }
  std::string result(std::string_view id, std::string text) {
    LocalToolResultIn result{.id = tool_use(id), .name = "read", .text = std::move(text)};
    return text_of(printer_.show(stamped(std::move(result)), milliseconds(12)));
  }
  // What the last of so many ticks writes.
  std::string ticks(int count) {
    Pieces last;
    for (int i = 0; i < count; ++i) last = printer_.tick();
    return text_of(last);
  }
  std::string say(std::string text) { return text_of(printer_.show(said(std::move(text)), {})); }
  static std::string text_of(const Pieces& pieces) {
    std::string all;
    for (const Piece& piece : pieces) all += piece.text;
    return all;
  }

  TerminalSize size_;
  TerminalPrinter printer_{
      Look{.kind = Look::Kind::live, .has_colour = false, .size = [this] { return size_; }}};
};

TEST_F(TerminalPrinterTest, ACallBecomesItsResult) {
  EXPECT_EQ(call("a", R"({"path":"README.md","limit":3})"), "· read README.md limit=3\n");
  EXPECT_EQ(result("a", "# Hello\n\n  World"),
            "\033[1A\r\033[2K✓ read README.md limit=3  12 ms  # Hello World\r\033[1B");
}

TEST_F(TerminalPrinterTest, ParallelCallsAreUpdatedWhereTheyStand) {
  call("a", R"({"path":"a"})");
  call("b", R"({"path":"b"})");
  EXPECT_EQ(result("a", "x"), "\033[2A\r\033[2K✓ read a  12 ms  x\r\033[2B");
  EXPECT_EQ(result("b", "y"), "\033[1A\r\033[2K✓ read b  12 ms  y\r\033[1B");
}

TEST_F(TerminalPrinterTest, AResultIsANewLineOnceSomethingElseWasWritten) {
  call("a", R"({"path":"a"})");
  EXPECT_EQ(say("Meanwhile"), "Meanwhile");
  EXPECT_EQ(result("a", "x"), "\n✓ read a  12 ms  x\n");
  call("b", R"({"path":"b"})");
  EXPECT_EQ(say("A whole line.\n"), "A whole line.\n");
  EXPECT_EQ(result("b", "x"), "✓ read b  12 ms  x\n");
}

TEST_F(TerminalPrinterTest, AResultIsANewLineOnceItsLineMayHaveWrapped) {
  call("a", R"({"path":"a-long-name"})");
  size_.columns = 10;
  EXPECT_EQ(result("a", "x"), "✓ read a…\n");
}

TEST_F(TerminalPrinterTest, AResultIsANewLineOnceItsLineHasLeftTheScreen) {
  size_.rows = 2;
  call("a", R"({"path":"a"})");
  call("b", R"({"path":"b"})");
  EXPECT_EQ(result("a", "x"), "✓ read a  12 ms  x\n");
}

TEST_F(TerminalPrinterTest, NoLineIsAsWideAsTheTerminal) {
  size_.columns = 12;
  EXPECT_EQ(call("a", R"({"path":"12345678"})"), "· read 123…\n");
  EXPECT_EQ(call("b", R"({"path":"世界世界"})"), "· read 世…\n");
  EXPECT_EQ(call("c", R"({"path":"1234"})"), "· read 1234\n");
}

TEST_F(TerminalPrinterTest, NoToolReachesTheTerminalRaw) {
  EXPECT_EQ(call("a", R"({"path":"\u001b[2J"})"), "· read \\x1b[2J\n");
  EXPECT_EQ(result("a",
                   "\x1b]0;x\x07\u009b"
                   "2J"),
            "\033[1A\r\033[2K✓ read \\x1b[2J  12 ms  \\x1b]0;x\\x07\\x9b2J\r\033[1B");
  EXPECT_EQ(say("\x1b"), "\\x1b");
  EXPECT_EQ(say("[31m"), "[31m");
}

TEST_F(TerminalPrinterTest, ANoteTakesTheLineInWhichTheUserTyped) {
  call("a", R"({"path":"a"})");
  EXPECT_EQ(text_of(printer_.note("cancelling")), "\r\033[2Kerrand: cancelling\n");
  EXPECT_EQ(result("a", "x"), "✓ read a  12 ms  x\n");
  say("open");
  EXPECT_EQ(text_of(printer_.note("lost")), "\n\r\033[2Kerrand: lost\n");
}

TEST_F(TerminalPrinterTest, ASilentModelIsSeenToBeWaitedForUntilItSpeaks) {
  EXPECT_EQ(ticks(5), "");
  EXPECT_EQ(ticks(1), "\r\033[2K⠦ waiting for the model");
  ticks(13);
  EXPECT_EQ(ticks(1), "\r\033[2K⠋ waiting for the model, 2 s");
  EXPECT_EQ(say("Hi"), "\r\033[2KHi");
  EXPECT_EQ(ticks(20), "") << "its text shows that it is there";
  EXPECT_EQ(text_of(printer_.finish()), "\n");
  ticks(6);
  EXPECT_EQ(text_of(printer_.aside("demo, 1 turn")), "\r\033[2Kdemo, 1 turn\n");
}

TEST_F(TerminalPrinterTest, AToolIsNotTheModel) {
  call("a", R"({"path":"a"})");
  EXPECT_EQ(ticks(50), "");
  result("a", "x");
  EXPECT_NE(ticks(6), "");
  EXPECT_EQ(call("b", R"({"path":"b"})"), "\r\033[2K· read b\n");
  EXPECT_EQ(result("b", "y"), "\033[1A\r\033[2K✓ read b  12 ms  y\r\033[1B");
  printer_.begin(*RunId::parse("run_2"));
  EXPECT_NE(ticks(6), "");
  EXPECT_EQ(text_of(printer_.note("lost")), "\r\033[2K\r\033[2Kerrand: lost\n");
}

TEST_F(TerminalPrinterTest, ThePauseBeforeARetryIsCountedDown) {
  printer_.retrying("over\x1bloaded", milliseconds(1050));
  EXPECT_EQ(ticks(1), "\r\033[2K⠙ retrying in 2 s: over\\x1bloaded");
  EXPECT_EQ(ticks(1), "\r\033[2K⠹ retrying in 1 s: over\\x1bloaded");
  ticks(9);
  EXPECT_EQ(ticks(1), "\r\033[2K⠹ waiting for the model");
  size_.columns = 22;
  printer_.retrying("overloaded", milliseconds(100));
  EXPECT_EQ(ticks(1), "\r\033[2K⠸ retrying in 1 s:…");
}

TEST(PlainPrinter, DoesNotTellOfWaiting) {
  EXPECT_FALSE(PlainPrinter().shows_waiting());
  EXPECT_FALSE(make_printer(Form::json, {})->shows_waiting());
}

TEST(TerminalPrinter, ColoursMarksAndDimsWhatIsNotTheAnswer) {
  TerminalPrinter printer(Look{.kind = Look::Kind::live, .has_colour = true});
  EXPECT_EQ(printer.show(thought("hm"), {}), (Pieces{err("\033[2mhm\033[0m")}));
  EXPECT_EQ(printer.show(stamped(ToolResultEvent{.name = "t", .ok = false, .text = "no"}), {}),
            (Pieces{err("\n"), err("\033[31m✗ \033[0mt\033[2m  no\033[0m\n")}));
  EXPECT_EQ(printer.aside("demo"), (Pieces{err("\033[2mdemo\033[0m\n")}));
}

TEST(Look, IsLiveOnTerminalsThatKnowMoreThanLines) {
  EXPECT_EQ(choose_look(true, "xterm", nullptr).kind, Look::Kind::live);
  EXPECT_TRUE(choose_look(true, "xterm", nullptr).has_colour);
  EXPECT_TRUE(choose_look(true, "xterm", "").has_colour);
  EXPECT_FALSE(choose_look(true, "xterm", "1").has_colour);
  EXPECT_EQ(choose_look(true, "xterm", "1").kind, Look::Kind::live);
  EXPECT_EQ(choose_look(false, "xterm", nullptr).kind, Look::Kind::plain);
  EXPECT_EQ(choose_look(true, "dumb", nullptr).kind, Look::Kind::plain);
  EXPECT_EQ(choose_look(true, nullptr, nullptr).kind, Look::Kind::plain);
}

TEST(TextWidth, CountsColumns) {
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("Grüße"), 5U);
  EXPECT_EQ(width_of("e\u0301"), 1U);
  EXPECT_EQ(width_of("世界"), 4U);
  EXPECT_EQ(width_of("한글"), 4U);
  EXPECT_EQ(width_of("\u1112\u1161\u11AB"), 2U);  // 한 in its parts
  EXPECT_EQ(width_of("🙂"), 2U);
  EXPECT_EQ(width_of("❤\uFE0F"), 2U);
  EXPECT_EQ(width_of("a\u200Bb"), 2U);
}

TEST(TextWidth, CutsWithAnEllipsis) {
  EXPECT_EQ(fit_width("abc", 3), "abc");
  EXPECT_EQ(fit_width("abcd", 3), "ab…");
  EXPECT_EQ(fit_width("世界", 3), "世…");
  EXPECT_EQ(fit_width("世界", 2), "…");
  EXPECT_EQ(fit_width("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(fit_width("abc", 1), "…");
  EXPECT_EQ(fit_width("abc", 0), "");
}

TEST(Duration, IsShort) {
  EXPECT_EQ(shown_duration(milliseconds(0)), "0 ms");
  EXPECT_EQ(shown_duration(milliseconds(999)), "999 ms");
  EXPECT_EQ(shown_duration(milliseconds(1000)), "1.0 s");
  EXPECT_EQ(shown_duration(milliseconds(59'999)), "59.9 s");
  EXPECT_EQ(shown_duration(milliseconds(125'000)), "2 min 05 s");
}

TEST(Summary, SaysWhatARunTook) {
  RunTotals totals{.usage = {.input_tokens = 1200, .cached_tokens = 1000, .output_tokens = 80},
                   .turns = 2,
                   .model = {.id = "fast"},
                   .cost_usd = 0.016};
  EXPECT_EQ(summary_of(totals, milliseconds(9)),
            "fast, 2 turns, 1200 tokens in (1000 cached), 80 out, $0.0160, 9 ms");
  totals.cost_usd.reset();
  EXPECT_EQ(summary_of(totals, milliseconds(9)),
            "fast, 2 turns, 1200 tokens in (1000 cached), 80 out, 9 ms");
  EXPECT_EQ(summary_of({.usage = {}, .turns = 1, .model = {.id = "m"}}, milliseconds(9)),
            "m, 1 turn, tokens unknown, 9 ms");
}

}  // namespace
}  // namespace errand::cli::printer_test
