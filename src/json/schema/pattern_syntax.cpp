#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "json/schema.hpp"
#include "json/schema/pattern.hpp"

namespace errand::json::schema {
namespace {

// The characters that ECMA-262 calls white space and line ends, and all others, as the inside of a
// class.
constexpr std::string_view kSpace =
    R"(\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
    R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view kNotLineEnd = R"([^\n\r\x{2028}\x{2029}])";
constexpr std::string_view kAnything = R"([\x{0}-\x{10ffff}])";
constexpr std::string_view kNothing = R"([^\x{0}-\x{10ffff}])";

// Long names of general categories; RE2 knows only the short ones.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
    {"Surrogate", "Cs"},
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Titlecase_Letter", "Lt"},
    {"Uppercase_Letter", "Lu"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Close_Punctuation", "Pe"},
    {"Final_Punctuation", "Pf"},
    {"Initial_Punctuation", "Pi"},
    {"Other_Punctuation", "Po"},
    {"Open_Punctuation", "Ps"},
    {"Symbol", "S"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Math_Symbol", "Sm"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Space_Separator", "Zs"},
};

Error malformed(std::string_view what) {
  return {ErrorCode::invalid_argument, cat("not a regular expression: ", what)};
}

Error beyond_re2(std::string_view what) {
  return {ErrorCode::unsupported,
          cat("the pattern uses ", what, ", which cannot be matched in linear time")};
}

std::optional<unsigned> hexadecimal(std::string_view digits) {
  unsigned out = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return {};
  return out;
}

std::string code_point(unsigned value) {
  char digits[12];
  auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return cat("\\x{", std::string_view(digits, static_cast<std::size_t>(end - digits)), "}");
}

// Walks a pattern once and writes it in RE2's syntax.
class Translator final {
 public:
  explicit Translator(std::string_view pattern) : rest_(pattern) {}

  Result<std::string> run() {
    while (!rest_.empty() && !error_) {
      if (in_class_) {
        class_character();
      } else {
        plain_character();
      }
    }
    if (!error_ && in_class_) error_ = malformed("a [ without its ]");
    if (error_) return std::move(*error_);
    return std::move(out_);
  }

 private:
  void copy(std::size_t bytes) {
    out_.append(rest_.substr(0, bytes));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }
  void replace(std::size_t bytes, std::string_view by) {
    out_.append(by);
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  void plain_character() {
    if (rest_.starts_with("[^]")) return replace(3, kAnything);
    if (rest_.starts_with("[]")) return replace(2, kNothing);
    switch (rest_.front()) {
      case '\\': return escape();
      case '.': return replace(1, kNotLineEnd);
      case '(': return group();
      case '[': in_class_ = true; return copy(rest_.starts_with("[^") ? 2 : 1);
      default: return copy(1);
    }
  }

  // In ECMA-262, [ has no meaning inside a class, but RE2 would look for [:alpha:] there.
  void class_character() {
    switch (rest_.front()) {
      case '\\': return escape();
      case '[': return replace(1, "\\[");
      case ']': in_class_ = false; [[fallthrough]];
      default: return copy(1);
    }
  }

  // The text of a group is never used, so groups do not capture.
  void group() {
    if (!rest_.starts_with("(?")) return replace(1, "(?:");
    if (rest_.starts_with("(?:") || rest_.starts_with("(?i:") || rest_.starts_with("(?i)")) {
      return copy(2);
    }
    if (rest_.starts_with("(?=") || rest_.starts_with("(?!")) {
      error_ = beyond_re2("look-ahead");
    } else if (rest_.starts_with("(?<=") || rest_.starts_with("(?<!")) {
      error_ = beyond_re2("look-behind");
    } else if (auto end = rest_.find('>'); rest_.starts_with("(?<") && end != rest_.npos) {
      replace(end + 1, "(?:");
    } else {
      error_ = malformed("an unknown group after (?");
    }
  }

  void escape() {
    if (rest_.size() < 2) {
      error_ = malformed("a \\ at the end");
      return;
    }
    char c = rest_[1];
    switch (c) {
      case 'd':
      case 'D':
      case 'w':
      case 'W':
      case 'f':
      case 'n':
      case 'r':
      case 't':
      case 'v': return copy(2);
      case 'b': return in_class_ ? replace(2, "\\x08") : copy(2);
      case 'B': return copy(2);
      case 's': return white_space(kSpace);
      case 'S': return white_space(kNotSpace);
      case 'c': return control();
      case 'x': return byte();
      case 'u': return unicode();
      case 'p':
      case 'P': return property();
      case '0': return replace(2, "\\x{0}");
      case 'k': error_ = beyond_re2("a back-reference"); return;
      default: break;
    }
    if (c >= '1' && c <= '9') {
      error_ = beyond_re2("a back-reference");
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      error_ = malformed(cat("an unknown escape \\", c));
    } else if (c == '_' || static_cast<unsigned char>(c) >= 0x80) {
      rest_.remove_prefix(1);
    } else {
      replace(2, code_point(static_cast<unsigned char>(c)));
    }
  }

  void white_space(std::string_view inside) {
    replace(2, in_class_ ? std::string(inside) : cat("[", inside, "]"));
  }

  void control() {
    char c = rest_.size() > 2 ? rest_[2] : ' ';
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
      error_ = malformed("\\c without a letter");
      return;
    }
    replace(3, code_point(static_cast<unsigned>(c) % 32));
  }

  void byte() {
    auto value = rest_.size() >= 4 ? hexadecimal(rest_.substr(2, 2)) : std::nullopt;
    if (!value) {
      error_ = malformed("\\x without two hexadecimal digits");
      return;
    }
    replace(4, code_point(*value));
  }

  std::optional<unsigned> unit_at(std::size_t at) const {
    if (rest_.substr(std::min(at, rest_.size()), 2) != "\\u" || rest_.size() < at + 6) return {};
    return hexadecimal(rest_.substr(at + 2, 4));
  }

  // \u{1F600}, \u0041, and pairs of surrogates.
  void unicode() {
    if (rest_.starts_with("\\u{")) {
      auto end = rest_.find('}');
      auto value = end == rest_.npos ? std::nullopt : hexadecimal(rest_.substr(3, end - 3));
      if (value && *value <= 0x10FFFF) return replace(end + 1, code_point(*value));
    } else if (auto unit = unit_at(0)) {
      auto low = unit_at(6);
      bool pair = *unit >= 0xD800 && *unit < 0xDC00 && low && *low >= 0xDC00 && *low < 0xE000;
      if (pair) {
        return replace(12, code_point(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00)));
      }
      if (*unit < 0xD800 || *unit > 0xDFFF) return replace(6, code_point(*unit));
    }
    error_ = malformed("\\u that is not a code point");
  }

  // \p{Letter}, \p{L}, \p{Script=Greek}, \p{ASCII}.
  void property() {
    auto end = rest_.find('}');
    if (rest_.size() < 3 || rest_[2] != '{' || end == rest_.npos) {
      error_ = malformed("\\p without a name in braces");
      return;
    }
    std::string_view name = rest_.substr(3, end - 3);
    if (auto equals = name.find('='); equals != name.npos) name.remove_prefix(equals + 1);
    bool negated = rest_[1] == 'P';
    if (name == "ASCII") {
      std::string_view inside = negated ? R"(\x{80}-\x{10ffff})" : R"(\x{0}-\x{7f})";
      return replace(end + 1, in_class_ ? std::string(inside) : cat("[", inside, "]"));
    }
    for (const auto& [longer, shorter] : kCategories) {
      if (name == longer) name = shorter;
    }
    replace(end + 1, cat(negated ? "\\P{" : "\\p{", name, "}"));
  }

  std::string_view rest_;
  std::string out_;
  bool in_class_ = false;
  std::optional<Error> error_;
};

}  // namespace

bool is_beyond_re2(std::string_view pattern) {
  if (pattern.size() > kPatternBytesMax) return false;
  auto translated = to_re2_syntax(pattern);
  if (!translated) return translated.error().code() == ErrorCode::unsupported;
  constexpr int kRepetitionsMax = 1000;
  for (std::size_t at = translated->find('{'); at != std::string::npos;
       at = translated->find('{', at + 1)) {
    bool is_escaped =
        at > 0 && std::string_view("\\pPx[").find((*translated)[at - 1]) != std::string::npos;
    std::size_t end = translated->find_first_of(",}", at);
    if (is_escaped || end == std::string::npos) continue;
    auto least = parse_integer<int>(std::string_view(*translated).substr(at + 1, end - at - 1));
    std::size_t last = translated->find('}', end);
    auto most =
        last == std::string::npos || last <= end
            ? std::nullopt
            : parse_integer<int>(std::string_view(*translated).substr(end + 1, last - end - 1));
    if (least.value_or(0) > kRepetitionsMax || most.value_or(0) > kRepetitionsMax) return true;
  }
  return false;
}

Result<std::string> to_re2_syntax(std::string_view pattern) {
  return Translator(pattern).run();
}

}  // namespace errand::json::schema
