#include "json/member_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace errand::json {
namespace {

constexpr std::string_view kSpace = " \t\n\r";

// The meaning of a byte outside of strings.
enum class Mark : std::uint8_t { none, quote, open, close };

constexpr std::array<Mark, 256> make_marks() {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::quote;
  marks['{'] = marks['['] = Mark::open;
  marks['}'] = marks[']'] = Mark::close;
  return marks;
}
constexpr std::array<Mark, 256> kMarks = make_marks();

// Positions below are offsets in the text; the size of the text stands for "past the end".

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// From a quote to the position behind the end of its string.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    at = text.find('"', at);
    if (at == std::string_view::npos) break;
    std::size_t slashes = 0;
    while (text[at - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 0) return at + 1;
  }
  return text.size();
}

// From the first byte of a value to the position behind its last byte.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (kMarks[static_cast<unsigned char>(text[at])] == Mark::none) {
    return std::min(text.find_first_of(",}] \t\n\r", at), text.size());
  }
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (kMarks[static_cast<unsigned char>(text[at])]) {
      case Mark::quote: at = skip_string(text, at); break;
      case Mark::open:
        ++depth;
        ++at;
        break;
      case Mark::close:
        --depth;
        ++at;
        break;
      case Mark::none: ++at; continue;
    }
    if (depth == 0) return at;
  }
  return text.size();
}

}  // namespace

std::string_view member_text(std::string_view object, std::string_view key) {
  std::size_t at = skip_space(object, 0);
  if (at == object.size() || object[at] != '{') return {};
  for (;;) {
    at = skip_space(object, at + 1);
    if (at == object.size() || object[at] != '"') return {};
    std::size_t key_end = skip_string(object, at);
    std::string_view name = object.substr(at, key_end - at);
    at = skip_space(object, key_end);
    if (at == object.size() || object[at] != ':') return {};
    at = skip_space(object, at + 1);
    if (at == object.size()) return {};
    std::size_t end = skip_value(object, at);
    bool is_it = name.size() == key.size() + 2 && name.substr(1, key.size()) == key;
    if (is_it) return object.substr(at, end - at);
    at = skip_space(object, end);
    if (at == object.size() || object[at] != ',') return {};
  }
}

}  // namespace errand::json
