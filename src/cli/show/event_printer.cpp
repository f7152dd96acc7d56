#include "cli/show/event_printer.hpp"

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/plain_printer.hpp"
#include "cli/show/terminal_printer.hpp"
#include "cli/terminal/report.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

// What people read when a turn is asked again.
constexpr std::string_view kTurnRestarted =
    "errand: the model's answer broke off; it starts again after the last tool call";

// Prints each event as one line of JSON on stdout, with the id of its run as the last member.
class JsonPrinter final : public EventPrinter {
 public:
  void begin(const RunId& run) override { end_ = cat(",\"runId\":\"", run.view(), "\"}\n"); }
  Pieces show(const StampedEvent& event, std::optional<milliseconds>) override {
    std::string line;
    append_event_line(line, event);
    line.resize(line.rfind('}'));
    return {{.to = Piece::To::out, .text = cat(escape_json_controls(line), end_)}};
  }
  Pieces finish() override { return {}; }
  Pieces make_room() override { return {}; }
  Pieces aside(std::string_view) override { return {}; }
  // The event has no number, because the run's log does not have it.
  Pieces failure(const Error& error) override {
    std::string line;
    json::ObjectWriter out(line);
    out.field("type", "error")
        .field("error", error.describe())
        .field("message", error.describe())
        .field("code", error.reason().empty() ? to_string(error.code()) : error.reason());
    if (!error.hint().empty()) out.field("hint", error.hint());
    return {{.to = Piece::To::out, .text = cat(escape_json_controls(line), end_)}};
  }
  Pieces bad_end(const Error&) override { return {}; }

 private:
  std::string end_ = "}\n";
};

}  // namespace

std::unique_ptr<EventPrinter> make_printer(Form form, Look look, Answer answer) {
  if (form == Form::json) return std::make_unique<JsonPrinter>();
  if (look.kind == Look::Kind::plain) return std::make_unique<PlainPrinter>(answer);
  return std::make_unique<TerminalPrinter>(std::move(look), answer);
}

Pieces EventPrinter::failure(const Error& error) {
  return {{.to = Piece::To::err, .text = describe_for_people(error)}};
}

Pieces EventPrinter::note(std::string_view text) {
  return log_line(cat("errand: ", clean_text(text)));
}

Pieces EventPrinter::log_line(std::string_view line) {
  Pieces pieces = make_room();
  pieces.push_back({.to = Piece::To::err, .text = cat(line_start(), line, "\n")});
  return pieces;
}

Pieces TextPrinter::show(const StampedEvent& event, std::optional<milliseconds> took) {
  const Event& what = event.event;
  if (auto* delta = std::get_if<AssistantDelta>(&what)) {
    return answer_ == Answer::streamed ? stream(Piece::To::out, delta->text) : Pieces();
  }
  if (auto* delta = std::get_if<ThinkingDelta>(&what)) return stream(Piece::To::err, delta->text);
  if (std::holds_alternative<AssistantMessage>(what)) return finish();
  if (auto* call = std::get_if<LocalToolCall>(&what)) return show_call(*call);
  if (auto* call = std::get_if<ToolCallStarted>(&what)) {
    return show_call({.id = call->id, .name = call->name, .args = call->input});
  }
  if (auto* result = std::get_if<LocalToolResultIn>(&what)) return show_result(*result, took);
  if (auto* result = std::get_if<ToolResultEvent>(&what)) {
    return show_result({.id = result->id,
                        .name = result->name,
                        .ok = result->ok,
                        .text = result->text,
                        .files = result->files,
                        .full_length = result->full_length},
                       took);
  }
  if (std::holds_alternative<TurnRestarted>(what)) return show_line(kTurnRestarted);
  if (auto* end = std::get_if<ResultEvent>(&what)) return show_end(*end);
  return {};
}

Pieces TextPrinter::show_end(const ResultEvent& end) {
  if (answer_ == Answer::streamed || end.subtype != "success") return {};
  return stream(Piece::To::out, end.text);
}

std::string shown_duration(milliseconds took) {
  constexpr std::int64_t kSecond = 1000;
  constexpr std::int64_t kMinute = 60 * kSecond;
  std::int64_t millis = took.count();
  if (millis < kSecond) return cat(millis, " ms");
  if (millis < kMinute) return cat(millis / kSecond, ".", millis % kSecond / 100, " s");
  std::int64_t seconds = millis % kMinute / kSecond;
  return cat(millis / kMinute, " min ", seconds < 10 ? "0" : "", seconds, " s");
}

Pieces OpenLine::continue_with(Piece::To to, std::string_view text, std::string styled) {
  if (text.empty()) return {};
  Pieces pieces;
  if (!is_open(to)) pieces = close();
  pieces.push_back({.to = to, .text = std::move(styled)});
  to_ = text.ends_with('\n') ? std::nullopt : std::optional(to);
  return pieces;
}

Pieces OpenLine::step_aside() {
  if (is_open(Piece::To::err)) return close();
  if (!is_open()) return {};
  return {{.to = Piece::To::err, .text = "\n"}};
}

Pieces OpenLine::close() {
  auto to = std::exchange(to_, std::nullopt);
  if (!to) return {};
  return {{.to = *to, .text = "\n"}};
}

}  // namespace errand::cli
