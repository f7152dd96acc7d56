#include "cli/show/plain_printer.hpp"

#include <algorithm>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownNameChars = 64;
constexpr std::size_t kShownArgumentsChars = 160;
constexpr std::size_t kShownErrorChars = 300;

std::string count_lines(std::string_view text) {
  if (text.empty()) return "empty";
  auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  return cat(lines, lines == 1 ? " line" : " lines");
}

std::string name_of(const sdk::RunEvent& event) {
  return clean_line(event.text("name"), kShownNameChars);
}

std::string call_line(const sdk::RunEvent& event) {
  const json::Value* arguments = sdk::arguments_of_call(event);
  std::string shown = arguments ? json::write(*arguments) : "";
  return cat("-> ", name_of(event), " ", clean_line(shown, kShownArgumentsChars));
}

std::string result_line(const sdk::RunEvent& event, std::optional<milliseconds> took) {
  std::string out = cat("<- ", name_of(event), " ");
  if (sdk::has_call_failed(event)) {
    return cat(out, "failed: ", clean_line(sdk::text_of_result(event), kShownErrorChars));
  }
  if (const json::Value* bytes = event.fields.if_contains("fullLength");
      bytes && bytes->is_int64()) {
    append(out, bytes->get_int64(), " bytes");
  } else {
    out += count_lines(event.text("result"));
  }
  if (took) append(out, ", ", shown_duration(*took));
  return out;
}

}  // namespace

Pieces PlainPrinter::show(const sdk::RunEvent& event, std::optional<milliseconds> took) {
  if (event.type == "assistant_delta" || event.type == "thinking_delta") {
    std::string text = clean_text(event.text("text"));
    auto to = event.type == "assistant_delta" ? Piece::To::out : Piece::To::err;
    return open_.continue_with(to, text, text);
  }
  if (event.type == "assistant_message") return finish();
  if (sdk::is_tool_call(event)) return line(call_line(event));
  if (sdk::is_tool_result(event)) return line(result_line(event, took));
  if (event.type == "turn_restarted") return line(std::string(kTurnRestarted));
  return {};
}

Pieces PlainPrinter::line(std::string text) {
  Pieces pieces = finish();
  pieces.push_back({.to = Piece::To::err, .text = std::move(text) + "\n"});
  return pieces;
}

Pieces PlainPrinter::note(std::string_view text) {
  Pieces pieces = make_room();
  pieces.push_back({.to = Piece::To::err, .text = cat("errand: ", clean_text(text), "\n")});
  return pieces;
}

Pieces PlainPrinter::log_line(std::string_view line) {
  Pieces pieces = make_room();
  pieces.push_back({.to = Piece::To::err, .text = cat(line, "\n")});
  return pieces;
}

Pieces PlainPrinter::make_room() {
  return open_.step_aside();
}

Pieces PlainPrinter::aside(std::string_view text) {
  return line(clean_text(text));
}

}  // namespace errand::cli
