#include "tool/safe_text.hpp"

#include <cstdint>

#include "base/text.hpp"

namespace errand {
namespace {

char32_t decode(std::string_view sequence) {
  auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  char32_t point = lead & (0xFFU >> (sequence.size() + 1));
  for (char c : sequence.substr(1)) point = point << 6U | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

// Control characters (C0, DEL, C1), line and paragraph separators, direction marks, and zero-width
// characters.
bool is_hidden(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0xAD || point == 0x61C ||
         (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
         (point >= 0xE0000 && point <= 0xE007F);
}

void append_escape(std::string& out, char32_t point) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (point == '\n') return append(out, "\\n");
  if (point == '\t') return append(out, "\\t");
  if (point == '\r') return append(out, "\\r");
  if (point < 0x80) return append(out, "\\x", kHex[point >> 4U], kHex[point & 15U]);
  std::string digits;
  for (; point > 0; point >>= 4U) digits.insert(digits.begin(), kHex[point & 15U]);
  append(out, "\\u{", digits, "}");
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    std::size_t length = utf8_sequence_length(bytes);
    out.append(length > 0 ? bytes.substr(0, length) : kReplacementCharacter);
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

std::size_t count_invalid_utf8(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    std::size_t length = utf8_sequence_length(text);
    if (length == 0) ++count;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return count;
}

std::string to_visible_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = utf8_sequence_length(text);
    if (length == 0) {
      out.append(kReplacementCharacter);
      text.remove_prefix(1);
      continue;
    }
    char32_t point = decode(text.substr(0, length));
    if (is_hidden(point)) {
      append_escape(out, point);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace errand
