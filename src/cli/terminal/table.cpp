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

std::string_view colour_of(std::string_view cell) {
  const auto* known = std::find_if(kColours.begin(), kColours.end(),
                                   [&](const auto& one) { return one.first == cell; });
  return known == kColours.end() ? std::string_view() : known->second;
}

std::string coloured(const std::string& text, std::string_view colour) {
  return colour.empty() ? text : cat(colour, text, "\033[0m");
}

}  // namespace

TableLook table_look_here() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  Look look = choose_look(true, std::getenv("TERM"), std::getenv("NO_COLOR"));
  return {.columns_max = size.ws_col, .has_colour = look.has_colour};
}

std::string render_table(const std::vector<Row>& rows, TableLook look) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(cell_text(row[i])));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    const bool is_heading = &row == &rows.front();
    std::size_t column = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = cell_text(row[i]);
      const bool is_last = i + 1 == row.size();
      if (is_last && look.columns_max > 0) {
        std::size_t left = look.columns_max - std::min(column, look.columns_max);
        text = fit_width(text, std::max(left, kLastColumnMin));
      }
      std::string_view colour = is_heading ? kHeadingColour : colour_of(text);
      std::size_t width = width_of(text);
      out += look.has_colour ? coloured(text, colour) : text;
      if (!is_last) out.append(widths[i] - width + kGap, ' ');
      column += widths[i] + kGap;
    }
    out += '\n';
  }
  return out;
}

}  // namespace errand::cli
