#include "cli/show/event_printer.hpp"

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/plain_printer.hpp"
#include "cli/show/terminal_printer.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

// Each event as one line of JSON on stdout.
class JsonPrinter final : public EventPrinter {
 public:
  Pieces show(const sdk::RunEvent& event, std::optional<milliseconds>) override {
    std::string line;
    json::write(line, event.fields);
    return {{.to = Piece::To::out, .text = escape_json_controls(line) + "\n"}};
  }
  Pieces finish() override { return {}; }
  Pieces note(std::string_view text) override {
    return {{.to = Piece::To::err, .text = cat("errand: ", clean_text(text), "\n")}};
  }
  Pieces log_line(std::string_view line) override {
    return {{.to = Piece::To::err, .text = cat(line, "\n")}};
  }
  Pieces make_room() override { return {}; }
  Pieces aside(std::string_view) override { return {}; }
};

}  // namespace

std::unique_ptr<EventPrinter> make_printer(Form form, Look look) {
  if (form == Form::json) return std::make_unique<JsonPrinter>();
  if (look.kind == Look::Kind::plain) return std::make_unique<PlainPrinter>();
  return std::make_unique<TerminalPrinter>(std::move(look));
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
