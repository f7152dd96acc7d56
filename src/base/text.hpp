#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand {

// Appends text and numbers to a string: append(out, "seq ", 7).
inline void append_one(std::string& out, std::string_view text) {
  out.append(text);
}
inline void append_one(std::string& out, char c) {
  out.push_back(c);
}
template <std::integral N>
  requires(!std::same_as<N, char> && !std::same_as<N, bool>)
void append_one(std::string& out, N number) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}
template <class... Parts>
void append(std::string& out, const Parts&... parts) {
  (append_one(out, parts), ...);
}

// Joins text and numbers into one string.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  append(out, parts...);
  return out;
}

// The whole of `text` as a decimal integer; nothing if it is anything else or does not fit.
template <std::integral N>
std::optional<N> parse_integer(std::string_view text) {
  N number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return number;
}

// "%2F" and friends decoded; nothing if an escape is malformed or decodes to a NUL byte.
std::optional<std::string> percent_decode(std::string_view text);

// Everything but unreserved characters escaped, for one path segment or query value.
std::string percent_encode(std::string_view text);
// Appends one byte as "%2F".
void append_percent(std::string& out, char byte);

// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none (Unicode
// table 3-7: neither overlong forms nor surrogates).
std::size_t utf8_sequence_length(std::string_view text);

// The longest prefix of at most `bytes_max` bytes that does not cut a UTF-8 sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

// The beginning and the end of a text that is too long, with a note between them that says how much
// is left out: what is said first and last tells most.
std::string without_middle(std::string_view text, std::size_t bytes_max);

// Number of code points in valid UTF-8.
std::size_t utf8_length(std::string_view text);

// ASCII letters only.
std::string to_lower(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

// Leading and trailing spaces and tabs removed.
std::string_view trim(std::string_view text);

// U+FFFD, which stands for bytes that are no text.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Cuts the first line off `rest` and returns it without its newline, which the last one may lack.
std::string_view take_line(std::string_view& rest);

}  // namespace errand
