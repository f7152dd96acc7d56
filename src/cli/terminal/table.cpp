#include "cli/terminal/table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/terminal.hpp"
#include "cli/terminal/text_width.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kCellCharsMax = 60;
// When columns are too wide, the last one is narrowed down to the first of these widths, then the
// others, then the last one again.
constexpr std::size_t kLastColumnGood = 20;
constexpr std::size_t kCutColumnMin = 12;
constexpr std::size_t kLastColumnMin = 8;
constexpr std::size_t kGap = 2;
constexpr std::string_view kHeadingColour = "\033[2m";

constexpr auto kColours = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"succeeded", "\033[32m"},
    {"reachable", "\033[32m"},
    {"active", "\033[32m"},
    {"failed", "\033[31m"},
    {"unreachable", "\033[31m"},
    {"cancelled", "\033[33m"},
    {"waiting", "\033[36m"},
    {"running", "\033[36m"},
});

std::string cell_text(const std::string& cell) {
  std::string text = clean_line(cell, kCellCharsMax);
  return text.empty() ? "-" : text;
}

// The colour of a cell that shows a status.
std::string_view colour_of(const std::vector<Row>& rows, std::size_t column,
                           std::string_view cell) {
  if (rows.front()[column] != "STATUS") return {};
  const auto* known = std::find_if(kColours.begin(), kColours.end(),
                                   [&](const auto& one) { return one.first == cell; });
  return known == kColours.end() ? std::string_view() : known->second;
}

std::string coloured(const std::string& text, std::string_view colour) {
  return colour.empty() ? text : cat(colour, text, "\033[0m");
}

using Widths = std::vector<std::size_t>;

Widths natural_widths(const std::vector<Row>& rows) {
  Widths widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(cell_text(row[i])));
    }
  }
  return widths;
}

// Makes columns narrower until a row fits. The first column keeps its width, because it holds what
// users copy into commands, such as an id. Returns false if the columns cannot be narrow enough.
bool fit(Widths& widths, std::size_t columns_max) {
  std::size_t needed = kGap * (widths.size() - 1);
  for (std::size_t width : widths) needed += width;
  auto take_from = [&](std::size_t& width, std::size_t min) {
    std::size_t excess = needed > columns_max ? needed - columns_max : 0;
    std::size_t taken = std::min(excess, width > min ? width - min : 0);
    width -= taken;
    needed -= taken;
  };
  if (widths.size() < 2) return needed <= columns_max;
  take_from(widths.back(), kLastColumnGood);
  while (needed > columns_max && widths.size() > 2) {
    std::size_t& widest = *std::max_element(widths.begin() + 1, widths.end() - 1);
    if (widest <= kCutColumnMin) break;
    --widest;
    --needed;
  }
  take_from(widths.back(), kLastColumnMin);
  return needed <= columns_max;
}

// Each row on lines of its own, "STATUS  running", with an empty line between rows.
std::string render_blocks(const std::vector<Row>& rows, TableLook look) {
  const Row& headings = rows.front();
  std::size_t label_width = 0;
  for (const std::string& heading : headings) {
    label_width = std::max(label_width, width_of(heading));
  }
  const std::size_t begin = label_width + kGap;
  const std::size_t room =
      std::max(look.columns_max - std::min(begin, look.columns_max), kLastColumnMin);
  std::string out;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    if (row > 1) out += '\n';
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      std::string label = headings[i];
      std::string text = cell_text(rows[row][i]);
      if (i > 0) text = fit_width(text, room);
      out += look.has_colour ? coloured(label, kHeadingColour) : label;
      out.append(begin - width_of(label), ' ');
      out += look.has_colour ? coloured(text, colour_of(rows, i, text)) : text;
      out += '\n';
    }
  }
  return out;
}

}  // namespace

TableLook table_look_here() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  Look look = choose_look(true, std::getenv("TERM"), std::getenv("NO_COLOR"));
  return {.columns_max = size.ws_col, .has_colour = look.has_colour};
}

bool is_narrow(const TableLook& look) {
  constexpr std::size_t kManyColumnsMin = 100;
  return look.columns_max > 0 && look.columns_max < kManyColumnsMin;
}

std::string render_table(const std::vector<Row>& rows, TableLook look) {
  Widths widths = natural_widths(rows);
  if (look.columns_max > 0 && !fit(widths, look.columns_max)) return render_blocks(rows, look);
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = fit_width(cell_text(row[i]), widths[i]);
      std::string_view colour = &row == &rows.front() ? kHeadingColour : colour_of(rows, i, text);
      out += look.has_colour ? coloured(text, colour) : text;
      if (i + 1 < row.size()) out.append(widths[i] - width_of(text) + kGap, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace errand::cli
