#include "base/terminal_text.hpp"

#include "base/text.hpp"

namespace errand {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr char kHex[] = "0123456789abcdef";

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// U+0080 to U+009F, which are two bytes in UTF-8.
bool is_c1(std::string_view sequence) {
  return sequence.size() == 2 && byte_at(sequence, 0) == 0xC2 && byte_at(sequence, 1) < 0xA0;
}

// The embeddings, overrides and isolates of U+202A to U+202E and U+2066 to U+2069, which change the
// order in which the rest of a line is shown.
bool is_direction(std::string_view sequence) {
  if (sequence.size() != 3 || byte_at(sequence, 0) != 0xE2) return false;
  unsigned char last = byte_at(sequence, 2);
  if (byte_at(sequence, 1) == 0x80) return last >= 0xAA && last <= 0xAE;
  return byte_at(sequence, 1) == 0x81 && last >= 0xA6 && last <= 0xA9;
}

bool is_control(unsigned char byte) {
  return byte < 0x20 || byte == 0x7f;
}

void append_escape(std::string& out, std::string_view prefix, unsigned char byte) {
  append(out, prefix, kHex[byte >> 4U], kHex[byte & 15U]);
}

enum class Breaks { keep, flatten };

std::string clean(std::string_view text, Breaks breaks) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t length = utf8_sequence_length(text);
    std::string_view sequence = text.substr(0, length);
    unsigned char first = byte_at(text, 0);
    if (length == 0) {
      out += kReplacement;
    } else if (first == '\n' || first == '\t') {
      out += breaks == Breaks::keep ? static_cast<char>(first) : ' ';
    } else if (is_c1(sequence)) {
      append_escape(out, "\\x", byte_at(sequence, 1));
    } else if (breaks == Breaks::flatten && is_direction(sequence)) {
      auto low = static_cast<unsigned char>((byte_at(sequence, 1) & 1U) << 6U);
      append_escape(out, "\\u20", static_cast<unsigned char>(low | (byte_at(sequence, 2) & 0x3FU)));
    } else if (!is_control(first)) {
      out += sequence;
    } else if (first != '\r') {
      append_escape(out, "\\x", first);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

// The longest prefix of at most `chars_max` code points of valid UTF-8.
std::string_view first_chars(std::string_view text, std::size_t chars_max) {
  std::size_t end = 0;
  for (std::size_t chars = 0; chars < chars_max && end < text.size(); ++chars) {
    end += utf8_sequence_length(text.substr(end));
  }
  return text.substr(0, end);
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = utf8_sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string clean_text(std::string_view text) {
  return clean(text, Breaks::keep);
}

std::string clean_line(std::string_view text, std::size_t chars_max) {
  // An escape of one byte is four characters at most, so this much input fills any line.
  std::string line = clean(utf8_prefix(text, chars_max * 4 + 4), Breaks::flatten);
  std::string_view shown = first_chars(line, chars_max);
  if (shown.size() < line.size()) return cat(shown, "...");
  return line;
}

std::string escape_json_controls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (byte_at(json, i) == 0x7f) {
      append_escape(out, "\\u00", 0x7f);
    } else if (is_c1(json.substr(i, 2))) {
      append_escape(out, "\\u00", byte_at(json, ++i));
    } else {
      out += json[i];
    }
  }
  return out;
}

}  // namespace errand
