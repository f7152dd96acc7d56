#include "room/wire/python_json.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/text.hpp"

namespace errand::room {
namespace {

void append_escape(std::string& out, std::uint32_t unit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15U];
}

// Writes a UTF-8 sequence as one or two escapes.
void append_escaped(std::string& out, std::string_view sequence) {
  constexpr std::uint32_t kSupplementary = 0x10000;
  constexpr std::array<std::uint32_t, 5> kFirstBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t point = static_cast<unsigned char>(sequence[0]) & kFirstBits.at(sequence.size());
  for (char c : sequence.substr(1)) {
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
  }
  if (point < kSupplementary) return append_escape(out, point);
  append_escape(out, 0xd800 + ((point - kSupplementary) >> 10U));
  append_escape(out, 0xdc00 + ((point - kSupplementary) & 0x3ffU));
}

void append_text(std::string& out, std::string_view text) {
  constexpr std::string_view kNamed = "\"\\\n\r\t\f\b";
  constexpr std::string_view kLetters = "\"\\nrtfb";
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const auto named = kNamed.find(text[0]);
    if (named != std::string_view::npos) {
      append(out, "\\", kLetters.substr(named, 1));
    } else if (length == 1 && text[0] >= ' ' && text[0] <= '~') {
      out += text[0];
    } else {
      append_escaped(out, length == 0 ? kReplacement : text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

// The shortest digits of the number, with an exponent below 1e-4 and from 1e16 on, as Python writes
// it.
void append_number(std::string& out, double number) {
  constexpr double kFixedMin = 1e-4;
  constexpr double kFixedMax = 1e16;
  if (!std::isfinite(number)) {
    out += "null";
    return;
  }
  const double size = std::fabs(number);
  const bool is_fixed = size == 0 || (size >= kFixedMin && size < kFixedMax);
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                    is_fixed ? std::chars_format::fixed : std::chars_format::scientific);
  const std::string_view digits(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  out += digits;
  if (is_fixed && digits.find('.') == std::string_view::npos) out += ".0";
}

void append_value(std::string& out, const json::Value& value);

void append_array(std::string& out, const json::Array& array) {
  out += '[';
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out += ", ";
    append_value(out, array[i]);
  }
  out += ']';
}

void append_object(std::string& out, const json::Object& object) {
  out += '{';
  bool is_first = true;
  for (const auto& member : object) {
    if (!is_first) out += ", ";
    is_first = false;
    append_text(out, member.key());
    out += ": ";
    append_value(out, member.value());
  }
  out += '}';
}

// Recursion is bounded by the parser's depth limit.
void append_value(std::string& out, const json::Value& value) {
  if (const auto* object = value.if_object()) return append_object(out, *object);
  if (const auto* array = value.if_array()) return append_array(out, *array);
  if (const auto* text = value.if_string()) return append_text(out, json::view(*text));
  if (const auto* number = value.if_double()) return append_number(out, *number);
  if (const auto* integer = value.if_int64()) return append(out, *integer);
  if (const auto* integer = value.if_uint64()) return append(out, *integer);
  if (const auto* flag = value.if_bool()) {
    out += *flag ? "true" : "false";
    return;
  }
  out += "null";
}

}  // namespace

std::string python_json(const json::Value& value) {
  std::string out;
  append_value(out, value);
  return out;
}

}  // namespace errand::room
