#include "cli/show/plain_printer.hpp"

#include <algorithm>

#include "base/terminal_text.hpp"
#include "base/text.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownArgumentsChars = 160;
constexpr std::size_t kShownErrorChars = 300;

std::string count_lines(std::string_view text) {
  if (text.empty()) return "empty";
  auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  return cat(lines, lines == 1 ? " line" : " lines");
}

}  // namespace

Pieces PlainPrinter::show_call(const LocalToolCall& call) {
  return show_line(cat("-> ", clean_line(call.name, kShownNameChars), " ",
                       clean_line(call.args, kShownArgumentsChars)));
}

Pieces PlainPrinter::show_result(const LocalToolResultIn& result,
                                 std::optional<milliseconds> took) {
  std::string out = cat("<- ", clean_line(result.name, kShownNameChars), " ");
  if (!result.ok) {
    return show_line(cat(out, "failed: ", clean_line(result.text, kShownErrorChars)));
  }
  if (result.full_length > 0) {
    append(out, result.full_length, " bytes");
  } else {
    out += count_lines(result.text);
  }
  if (took) append(out, ", ", shown_duration(*took));
  return show_line(out);
}

Pieces PlainPrinter::stream(Piece::To to, std::string_view text) {
  std::string clean = clean_text(text);
  return open_.continue_with(to, clean, clean);
}

Pieces PlainPrinter::show_line(std::string_view text) {
  Pieces pieces = finish();
  pieces.push_back({.to = Piece::To::err, .text = cat(text, "\n")});
  return pieces;
}

Pieces PlainPrinter::aside(std::string_view text) {
  return show_line(clean_text(text));
}

}  // namespace errand::cli
