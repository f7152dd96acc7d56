#include "cli/terminal/text_width.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "cli/terminal/width_table.hpp"

namespace errand::cli {
namespace {

constexpr std::string_view kEllipsis = "…";
// Makes the character before it a wide, coloured emoji.
constexpr char32_t kEmojiSelector = 0xFE0F;

// The code point of a complete UTF-8 sequence.
char32_t code_point(std::string_view sequence) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t code = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) code = (code << 6U) | (byte(i) & 0x3FU);
  return code;
}

bool contains(std::span<const CodeRange> ranges, char32_t code) {
  auto found = std::upper_bound(ranges.begin(), ranges.end(), code,
                                [](char32_t c, const CodeRange& range) { return c < range.first; });
  return found != ranges.begin() && code <= std::prev(found)->last;
}

std::size_t width_of_code(char32_t code) {
  if (code < 0x80) return 1;
  if (code == kEmojiSelector) return 1;
  if (contains(zero_width_ranges(), code)) return 0;
  return contains(wide_ranges(), code) ? 2 : 1;
}

// Takes the next character off `text` and returns its columns.
std::size_t take_character(std::string_view& text) {
  std::size_t length = std::max<std::size_t>(utf8_sequence_length(text), 1);
  std::size_t width = width_of_code(code_point(text.substr(0, length)));
  text.remove_prefix(length);
  return width;
}

}  // namespace

std::size_t width_of(std::string_view line) {
  std::size_t width = 0;
  while (!line.empty()) width += take_character(line);
  return width;
}

std::string fit_width(std::string_view line, std::size_t columns_max) {
  std::size_t width = 0;
  std::size_t fitting = 0;  // bytes that leave columns for the ellipsis
  for (std::string_view rest = line; !rest.empty();) {
    width += take_character(rest);
    if (width + 1 <= columns_max) fitting = line.size() - rest.size();
    if (width > columns_max) {
      return columns_max == 0 ? std::string() : cat(line.substr(0, fitting), kEllipsis);
    }
  }
  return std::string(line);
}

}  // namespace errand::cli
