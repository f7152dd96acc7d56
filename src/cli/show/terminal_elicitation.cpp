#include "cli/show/terminal_elicitation.hpp"

#include <termios.h>

#include <optional>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/typed_answer.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "run/elicitation.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kMessageChars = 2'000;  // of a message
constexpr std::size_t kHintChars = 200;       // of the description of a field

ToolDecl elicitation_decl() {
  ToolDecl decl{.name = std::string(kElicitationTool),
                .description = "Asks the user.",
                .input_schema = share_schema({{"type", "object"}})};
  // Read-only, because asking again does no harm: another client may answer first, and a run that
  // is rejoined asks again.
  decl.annotations.read_only = true;
  decl.annotations.parallel_safe = true;
  return decl;
}

ToolOutcome elicited(std::string_view action) {
  return text_outcome(json::write(json::Object{{"action", action}}));
}

std::string shown(std::string_view text, std::size_t chars_max) {
  return clean_line(text, chars_max);
}

// "every_ask asks: Who are you? Answer? [y/N] ".
std::string opening(const json::Object& asked) {
  std::string out = cat(shown(json::text_at(&asked, "tool"), kShownNameChars),
                        " asks: ", shown(json::text_at(&asked, "message"), kMessageChars));
  std::string_view url = json::text_at(&asked, "url");
  if (url.empty()) return cat(out, " Answer? [y/N] ");
  return cat(out, " Open ", shown(url, kMessageChars), " in your browser. Done? [y/N] ");
}

// "name (Your full name) [Ada]: ".
std::string field_prompt(std::string_view name, const json::Object* field) {
  std::string out = shown(name, kShownNameChars);
  std::string_view about = json::text_at(field, "description");
  if (about.empty()) about = json::text_at(field, "title");
  if (!about.empty()) append(out, " (", shown(about, kHintChars), ")");
  if (const json::Array* choices = json::array_at(field, "enum")) {
    append(out, " ", shown(json::write(json::Value(*choices)), kHintChars));
  }
  if (const json::Value* value = field ? field->if_contains("default") : nullptr) {
    append(out, " [", shown(json::write(*value), kHintChars), "]");
  }
  return cat(out, ": ");
}

}  // namespace

TerminalElicitation::TerminalElicitation(Console& console, EventPrinter& printer, ShownCalls& shown,
                                         std::string terminal)
    : console_(console),
      printer_(printer),
      shown_(shown),
      terminal_(std::move(terminal)),
      decl_(elicitation_decl()) {}

Task<ToolOutcome> TerminalElicitation::invoke(ToolCall call, ToolContext /*context*/) {
  co_await shown_.wait(call.run, call.id);
  Descriptor terminal = open_terminal(terminal_);
  if (!terminal.is_open()) {
    co_return co_await refuse(std::string(json::text_at(&call.arguments, "message")));
  }
  Gate::Pass pass = co_await console_.take();
  // Drops what was typed before the question was shown, because it cannot be an answer to it.
  ::tcflush(terminal.get(), TCIFLUSH);
  auto answer = co_await ask(terminal.get(), opening(call.arguments));
  if (!answer) co_return elicited("cancel");
  const bool is_yes = equals_ignoring_case(*answer, "y") || equals_ignoring_case(*answer, "yes");
  if (!is_yes) co_return elicited("decline");
  const json::Object* schema = json::object_at(&call.arguments, "requestedSchema");
  co_return co_await fill_in(terminal.get(), schema ? *schema : json::Object());
}

Task<std::optional<std::string>> TerminalElicitation::ask(int terminal, std::string question) {
  auto asked = co_await console_.ask(printer_.make_room(), terminal, std::move(question));
  if (!asked) co_return std::nullopt;
  auto answer = co_await read_answer(terminal);
  if (!answer) {
    // The question has no answer and no line end, so the next output would follow on its line.
    [[maybe_unused]] auto ended = write_fully(terminal, "\n");
  }
  co_return answer;
}

// A field that is left empty gets its default, or is left out.
Task<ToolOutcome> TerminalElicitation::fill_in(int terminal, json::Object schema) {
  json::Object content;
  if (const json::Object* fields = json::object_at(&schema, "properties")) {
    for (const auto& member : *fields) {
      const json::Object* field = member.value().if_object();
      auto typed = co_await ask(terminal, field_prompt(member.key(), field));
      if (!typed) co_return elicited("cancel");
      if (!typed->empty()) content[member.key()] = form_value(field, *typed);
    }
  }
  json::Object answer{{"action", "accept"}};
  answer["content"] = std::move(content);
  co_return text_outcome(json::write(answer));
}

Task<ToolOutcome> TerminalElicitation::refuse(std::string message) {
  std::string text = cat("declined, as there is no terminal to ask on: ", shown(message, 200));
  [[maybe_unused]] auto written = co_await console_.write(printer_.note(text));
  co_return failed_outcome("there is no terminal to ask the user on");
}

}  // namespace errand::cli
