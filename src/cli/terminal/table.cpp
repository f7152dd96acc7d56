#include "cli/terminal/table.hpp"

#include <algorithm>

#include "base/terminal_text.hpp"
#include "base/text.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kCellCharsMax = 60;
constexpr std::size_t kGap = 2;

std::string cell_text(const std::string& cell) {
  std::string text = clean_line(cell, kCellCharsMax);
  return text.empty() ? "-" : text;
}

}  // namespace

std::string render_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], utf8_length(cell_text(row[i])));
    }
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string text = cell_text(row[i]);
      out += text;
      bool is_last = i + 1 == row.size();
      if (!is_last) out.append(widths[i] - utf8_length(text) + kGap, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace errand::cli
