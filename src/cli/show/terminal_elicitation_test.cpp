#include "cli/show/terminal_elicitation.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "base/descriptor.hpp"
#include "json/parse.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "support/run_task.hpp"

namespace errand::cli::terminal_elicitation_test {
namespace {

constexpr std::string_view kForm = R"({"tool":"every_ask","message":"Who are you?","mode":"form",
  "requestedSchema":{"type":"object","properties":{
    "name":{"type":"string","description":"Your full name"},
    "age":{"type":"integer","default":42},
    "pets":{"type":"array"},
    "agrees":{"type":"boolean"},
    "colour":{"type":"string","enum":["red","blue"]}}}})";
constexpr std::string_view kPage =
    R"({"tool":"every_ask","message":"Log in.","mode":"url","url":"https://a.example/\u001b[2J"})";

ToolCall question(std::string_view arguments) {
  return {.run = {}, .id = {}, .arguments = json::parse(arguments).value().as_object()};
}

int open_keyboard() {
  int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(::grantpt(fd), 0);
  EXPECT_EQ(::unlockpt(fd), 0);
  return fd;
}

// A terminal with a test at its keyboard.
class TerminalElicitationTest : public testing::Test {
 protected:
  TerminalElicitationTest() {
    // Somebody has it open all the time, as a shell does.
    shell_ = Descriptor(::open(terminal_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios settings{};
    ::tcgetattr(shell_.get(), &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);  // so that only questions are read back
    ::tcsetattr(shell_.get(), TCSANOW, &settings);
  }

  // Begins to ask, and returns what the terminal shows once the first question is there.
  std::string begin(std::string_view arguments) {
    tasks_.spawn("question",
                 [](TerminalElicitation* tool, ToolCall call,
                    std::optional<ToolOutcome>* out) -> Task<void> {
                   *out = co_await tool->invoke(std::move(call), ToolContext{});
                 }(&tool_, question(arguments), &outcome_));
    run_ready(io_);
    return shown_until(" [y/N] ");
  }
  std::string shown_until(std::string_view end) {
    std::string shown;
    for (char c = 0; !shown.ends_with(end) && ::read(keyboard_.get(), &c, 1) == 1;) shown += c;
    return shown;
  }
  void type(std::string_view keys) {
    EXPECT_EQ(::write(keyboard_.get(), keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }
  std::string answer() {
    run_until(io_, [this] { return outcome_.has_value(); });
    return text_of(*outcome_);
  }
  std::string ask(std::string_view arguments, std::string_view keys) {
    begin(arguments);
    type(keys);
    return answer();
  }

  asio::io_context io_{1};
  Console console_;
  std::unique_ptr<EventPrinter> printer_ = make_printer(Form::text, {});
  Descriptor keyboard_{open_keyboard()};
  const std::string terminal_{::ptsname(keyboard_.get())};
  Descriptor shell_;
  std::optional<ToolOutcome> outcome_;
  ShownCalls shown_{io_.get_executor()};
  TerminalElicitation tool_{console_, *printer_, shown_, terminal_};
  TaskGroup tasks_{io_.get_executor(), sdk::report_bug};
};

TEST_F(TerminalElicitationTest, AsksForEachField) {
  EXPECT_EQ(begin(kForm), "every_ask asks: Who are you? Answer? [y/N] ");
  type("y\nAda Lovelace\n37\nBoole, Babbage\nyes\nred\n");
  EXPECT_EQ(answer(), R"({"action":"accept","content":{"name":"Ada Lovelace","age":37,)"
                      R"("pets":["Boole","Babbage"],"agrees":true,"colour":"red"}})");
  EXPECT_EQ(shown_until("colour [\"red\",\"blue\"]: "),
            "name (Your full name): age [42]: pets: agrees: colour [\"red\",\"blue\"]: ");
}

TEST_F(TerminalElicitationTest, AFieldLeftEmptyIsLeftOut) {
  EXPECT_EQ(ask(kForm, "yes\nAda\n\n\n\n\n"), R"({"action":"accept","content":{"name":"Ada"}})");
}

TEST_F(TerminalElicitationTest, AnythingButAYesDeclines) {
  EXPECT_EQ(ask(kForm, "no\n"), R"({"action":"decline"})");
}

TEST_F(TerminalElicitationTest, TheEndOfTheInputCancels) {
  EXPECT_EQ(ask(kForm, "y\nAda\n\x04"), R"({"action":"cancel"})");
}

TEST_F(TerminalElicitationTest, APageIsNamedAndCannotMoveTheCursor) {
  EXPECT_EQ(begin(kPage),
            "every_ask asks: Log in. Open https://a.example/\\x1b[2J in your browser. "
            "Done? [y/N] ");
  type("y\n");
  EXPECT_EQ(answer(), R"({"action":"accept","content":{}})");
}

TEST(TerminalElicitation, WithoutATerminalTheQuestionFails) {
  asio::io_context io(1);
  Console console;
  auto printer = make_printer(Form::text, {});
  ShownCalls shown(io.get_executor());
  TerminalElicitation tool(console, *printer, shown, "/dev/null");
  testing::internal::CaptureStderr();
  ToolOutcome outcome = run_task(io, tool.invoke(question(kForm), ToolContext{}));
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "errand: declined, as there is no terminal to ask on: Who are you?\n");
}

}  // namespace
}  // namespace errand::cli::terminal_elicitation_test
