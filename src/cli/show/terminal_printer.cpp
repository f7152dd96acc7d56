#include "cli/show/terminal_printer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/text_width.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

// More than any terminal shows in a line.
constexpr std::size_t kShownTextChars = 1000;
constexpr std::string_view kReset = "\033[0m";
constexpr std::string_view kClearLine = "\r\033[2K";

std::string_view code_of(Span::Style style) {
  switch (style) {
    case Span::Style::plain: return "";
    case Span::Style::dim: return "\033[2m";
    case Span::Style::good: return "\033[32m";
    case Span::Style::bad: return "\033[31m";
  }
  return "";
}

std::string shown_value(const json::Value& value) {
  if (value.is_string()) return std::string(json::view(value.get_string()));
  return json::write(value);
}

// Arguments such as "README.md limit=10": a text in the first place is shown without its name.
std::string shown_arguments(std::string_view text) {
  std::string out;
  auto arguments = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!arguments || !arguments->is_object()) return out;
  for (const auto& member : arguments->get_object()) {
    bool is_first_text = out.empty() && member.value().is_string();
    append(out, out.empty() ? "" : " ");
    if (!is_first_text) append(out, std::string_view(member.key()), "=");
    out += shown_value(member.value());
    if (out.size() > kShownTextChars) break;
  }
  return clean_line(out, kShownTextChars);
}

// The beginning of the text, with all white space as single spaces.
std::string first_words(std::string_view text) {
  std::string line = clean_line(text.substr(0, kShownTextChars * 4), kShownTextChars);
  line.erase(
      std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
      line.end());
  return std::string(trim(line));
}

std::size_t width_of(const std::vector<Span>& spans) {
  std::size_t width = 0;
  for (const Span& span : spans) width += cli::width_of(span.text);
  return width;
}

}  // namespace

TerminalPrinter::TerminalPrinter(Look look, Answer answer)
    : TextPrinter(answer), look_(std::move(look)) {}

void TerminalPrinter::begin(const RunId&) {
  labels_.clear();
  wait_.reset();
}

Pieces TerminalPrinter::tick() {
  bool waits_for_model = labels_.empty() && !open_.is_open();
  std::string text = waits_for_model ? wait_.tick() : "";
  if (text.empty()) return {};
  is_wait_shown_ = true;
  // The line must not wrap, even if the terminal echoes "^C" behind it, because only one row is
  // cleared.
  constexpr std::size_t kEchoColumns = 3;
  std::size_t columns = look_.size().columns;
  std::size_t width = columns > kEchoColumns ? columns - kEchoColumns : 1;
  std::vector<Span> spans{{.style = Span::Style::dim, .text = std::move(text)}};
  return {{.to = Piece::To::err, .text = cat(kClearLine, rendered(spans, width))}};
}

void TerminalPrinter::retrying(std::string_view why, milliseconds pause) {
  wait_.retry(why, pause);
}

Pieces TerminalPrinter::end_wait() {
  wait_.reset();
  if (!std::exchange(is_wait_shown_, false)) return {};
  return {{.to = Piece::To::err, .text = std::string(kClearLine)}};
}

Pieces TerminalPrinter::stream(Piece::To to, std::string_view said) {
  std::string text = clean_text(said);
  std::string written =
      to == Piece::To::err ? styled({.style = Span::Style::dim, .text = text}) : text;
  Pieces pieces = text.empty() ? Pieces() : end_wait();
  Pieces more = open_.continue_with(to, text, std::move(written));
  if (!more.empty()) rows_.clear();
  std::move(more.begin(), more.end(), std::back_inserter(pieces));
  return pieces;
}

Pieces TerminalPrinter::show_call(const LocalToolCall& call) {
  std::string label = clean_line(call.name, kShownNameChars);
  std::string arguments = shown_arguments(call.args);
  if (!arguments.empty()) append(label, " ", arguments);
  labels_[call.id] = label;
  return add_row(call.id, {{.style = Span::Style::dim, .text = "· "}, {.text = std::move(label)}});
}

Pieces TerminalPrinter::show_result(const LocalToolResultIn& result,
                                    std::optional<milliseconds> took) {
  auto known = labels_.extract(result.id);
  std::vector<Span> spans{
      {.style = result.ok ? Span::Style::good : Span::Style::bad, .text = result.ok ? "✓ " : "✗ "},
      {.text = known ? known.mapped() : clean_line(result.name, kShownNameChars)}};
  if (took) spans.push_back({.style = Span::Style::dim, .text = cat("  ", shown_duration(*took))});
  std::string words = first_words(result.text);
  if (!words.empty()) spans.push_back({.style = Span::Style::dim, .text = cat("  ", words)});

  TerminalSize size = look_.size();
  auto up = rows_up_to(result.id, size);
  if (!up) return add_row({}, spans);
  Pieces pieces = end_wait();
  std::size_t columns_max = size.columns - 1;
  rows_[rows_.size() - *up] = {.call = {}, .width = std::min(width_of(spans), columns_max)};
  pieces.push_back({.to = Piece::To::err,
                    .text = cat("\033[", *up, "A", kClearLine, rendered(spans, columns_max),
                                "\r\033[", *up, "B")});
  return pieces;
}

Pieces TerminalPrinter::show_line(std::string_view text) {
  return add_row({}, {{.text = std::string(text)}});
}

std::optional<std::size_t> TerminalPrinter::rows_up_to(const ToolUseId& call,
                                                       TerminalSize size) const {
  if (call.empty() || open_.is_open() || size.columns < 2) return {};
  for (std::size_t up = 1; up <= rows_.size() && up < size.rows; ++up) {
    const Row& row = rows_[rows_.size() - up];
    if (row.width >= size.columns) return {};
    if (row.call == call) return up;
  }
  return {};
}

Pieces TerminalPrinter::add_row(const ToolUseId& call, const std::vector<Span>& spans) {
  constexpr std::size_t kRowsMax = 500;  // more rows than any screen has
  Pieces pieces = finish();
  std::size_t columns = look_.size().columns;
  std::size_t columns_max = columns > 1 ? columns - 1 : 1;
  pieces.push_back({.to = Piece::To::err, .text = rendered(spans, columns_max) + "\n"});
  if (rows_.size() == kRowsMax) rows_.erase(rows_.begin());
  rows_.push_back({.call = call, .width = std::min(width_of(spans), columns_max)});
  return pieces;
}

Pieces TerminalPrinter::finish() {
  if (!open_.is_open()) return end_wait();
  rows_.clear();
  return open_.close();
}

// The terminal may have echoed keys of the user, such as ^C, on the empty line.
std::string_view TerminalPrinter::line_start() const {
  return kClearLine;
}

Pieces TerminalPrinter::make_room() {
  rows_.clear();
  return open_.is_open() ? open_.step_aside() : end_wait();
}

Pieces TerminalPrinter::aside(std::string_view text) {
  Pieces pieces = finish();
  rows_.clear();
  pieces.push_back({.to = Piece::To::err,
                    .text = styled({.style = Span::Style::dim, .text = clean_text(text)}) + "\n"});
  return pieces;
}

std::string TerminalPrinter::styled(const Span& span) const {
  std::string_view code = look_.has_colour ? code_of(span.style) : "";
  if (code.empty() || span.text.empty()) return span.text;
  return cat(code, span.text, kReset);
}

std::string TerminalPrinter::rendered(const std::vector<Span>& spans,
                                      std::size_t columns_max) const {
  std::string out;
  std::size_t left = columns_max;
  for (const Span& span : spans) {
    std::size_t width = cli::width_of(span.text);
    // Text that follows needs at least the room of an ellipsis.
    bool is_last = &span == &spans.back();
    if (width < left || (is_last && width == left)) {
      out += styled(span);
      left -= width;
      continue;
    }
    out +=
        styled({.style = span.style, .text = fit_width(cat(span.text, is_last ? "" : " "), left)});
    break;
  }
  return out;
}

}  // namespace errand::cli
