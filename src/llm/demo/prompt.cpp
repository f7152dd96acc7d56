#include "llm/demo/prompt.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

constexpr std::string_view kFunctionWords =
    "a about all also am an and any are as at be but by can could did do does first for from get "
    "has have here how i i'm if in into is it it's its last let many me much my no not of on or "
    "our "
    "per so some than that the then there these they this those to up us was we were what when "
    "where which who why will with would you your";
constexpr std::string_view kFillerWords =
    "check compare currently directory file files find folder give good great hello hey hi list "
    "look now ok open please plus read run same say search send show tell thank thanks today "
    "tomorrow tonight use want week write year yesterday";
constexpr std::string_view kFileNames = "readme license makefile dockerfile changelog";
constexpr std::string_view kNoPaths = "e.g i.e a.m p.m and/or he/she n/a";

struct Quotes {
  std::string_view open;
  std::string_view close;
};
constexpr Quotes kQuotes[] = {{"\"", "\""}, {"'", "'"}, {"`", "`"},
                              {"“", "”"},   {"‘", "’"}, {"«", "»"}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_alnum(char c) {
  return is_digit(c) || is_lower(c) || is_upper(c) || static_cast<unsigned char>(c) >= 0x80;
}
bool is_alnum_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_alnum(text[at]);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  if (text.size() < kForm.size()) return false;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == 'd' ? !is_digit(text[i]) : text[i] != kForm[i]) return false;
  }
  return text.size() == kForm.size() || text[kForm.size()] == 'T';
}

bool is_number(std::string_view text) {
  double value = 0;
  if (text.find_first_not_of("-0123456789.") != std::string_view::npos) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_path(std::string_view text) {
  if (is_one_of(lower_case(text), kNoPaths)) return false;
  if (text == "." || text == ".." || is_one_of(lower_case(text), kFileNames)) return true;
  if (text.find('/') != std::string_view::npos) return text.size() > 1;
  std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string_view extension = text.substr(dot + 1);
  bool is_short = !extension.empty() && (dot == 0 || extension.size() <= 8);
  return is_short && !is_digit(extension[0]) &&
         std::all_of(extension.begin(), extension.end(), is_alnum);
}

bool is_email(std::string_view text) {
  std::size_t at = text.find('@');
  return at != std::string_view::npos && at > 0 && text.find('.', at) != std::string_view::npos;
}

PieceKind kind_of(std::string_view token) {
  if (token.starts_with("http://") || token.starts_with("https://")) return PieceKind::url;
  if (is_email(token)) return PieceKind::email;
  if (is_date(token)) return PieceKind::date;
  if (is_number(token)) return PieceKind::number;
  return is_path(token) ? PieceKind::path : PieceKind::word;
}

// The expression at the start of `text`, such as "2+3*(4 - 1)"; empty if there is none.
std::string_view expression_at(std::string_view text) {
  std::size_t end = std::min(text.find_first_not_of("0123456789.+-*/^%() "), text.size());
  if (is_alnum_at(text, end)) end = text.find_last_of(' ', end) + 1;
  std::string_view found = text.substr(0, end);
  while (!found.empty() && !is_digit(found.back()) && found.back() != ')') found.remove_suffix(1);
  auto excess =
      std::count(found.begin(), found.end(), ')') - std::count(found.begin(), found.end(), '(');
  for (; excess > 0 && found.ends_with(')'); --excess) found.remove_suffix(1);
  std::size_t first_digit = std::min(found.find_first_of("0123456789"), found.size());
  bool has_operator = found.find_first_of("+-*/^%", first_digit) != std::string_view::npos;
  return has_operator ? found : std::string_view();
}

class PieceReader final {
 public:
  explicit PieceReader(std::string_view text) : rest_(text) {}

  std::vector<Piece> read() {
    for (skip_spaces(); !rest_.empty(); skip_spaces()) {
      if (!take_quoted() && !take_expression()) take_token();
    }
    return std::move(pieces_);
  }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
  }

  bool take_quoted() {
    for (const Quotes& quotes : kQuotes) {
      if (!rest_.starts_with(quotes.open)) continue;
      std::string_view inside = rest_.substr(quotes.open.size());
      std::size_t end = inside.find(quotes.close);
      // An apostrophe within a word closes nothing.
      while (quotes.close == "'" && end < inside.size() && is_alnum_at(inside, end + 1))
        end = inside.find(quotes.close, end + 1);
      if (end == 0 || end == std::string_view::npos) return false;
      rest_ = inside.substr(end + quotes.close.size());
      add(PieceKind::quoted, inside.substr(0, end));
      return true;
    }
    return false;
  }

  bool take_expression() {
    if (is_date(rest_.substr(0, rest_.find_first_of(" \t\r\n,;?!.")))) return false;
    std::string_view found = expression_at(rest_);
    if (found.empty()) return false;
    rest_.remove_prefix(found.size());
    add(PieceKind::expression, found);
    return true;
  }

  void take_token() {
    std::string_view token = rest_.substr(0, rest_.find_first_of(" \t\r\n,;"));
    rest_.remove_prefix(std::max<std::size_t>(token.size(), 1));
    char after = rest_.starts_with(',') || rest_.starts_with(';') ? rest_[0] : char{0};
    if (token != "." && token != "..") {
      token.remove_prefix(std::min(token.find_first_not_of("([{<\"'*"), token.size()));
      std::size_t end = token.find_last_not_of(")]}>.:!?\"'*") + 1;
      if (end < token.size()) after = token[end];
      token = token.substr(0, end);
    }
    for (std::string_view genitive : {"'s", "’s"}) {
      if (token.ends_with(genitive)) token.remove_suffix(genitive.size());
    }
    if (!token.empty()) add(kind_of(token), token, after);
  }

  void add(PieceKind kind, std::string_view text, char after = 0) {
    bool is_mark = rest_.find_first_of(",;:.!?") == 0;
    pieces_.push_back({.kind = kind,
                       .text = std::string(text),
                       .word = lower_case(text),
                       .after = after == 0 && is_mark ? rest_[0] : after});
  }

  std::string_view rest_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> read_pieces(std::string_view text) {
  return PieceReader(utf8_prefix(text, kPromptBytesMax)).read();
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool is_open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool starts_hump = i > 0 && is_upper(text[i]) && is_lower(text[i - 1]);
    if (!is_alnum(text[i])) {
      is_open = false;
      continue;
    }
    if (!is_open || starts_hump) words.emplace_back();
    words.back() += lower_case(text.substr(i, 1));
    is_open = true;
  }
  return words;
}

bool is_same_word(std::string_view a, std::string_view b) {
  constexpr std::size_t kStemMin = 4;
  constexpr std::size_t kEndingMax = 3;
  if (a.size() > b.size()) std::swap(a, b);
  if (a == b || (b.size() == a.size() + 1 && b.starts_with(a) && b.back() == 's')) return true;
  auto stem =
      static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  return stem >= kStemMin && b.size() - stem <= kEndingMax;
}

bool has_same_word(const std::vector<std::string>& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& one) { return is_same_word(one, word); });
}

bool is_one_of(std::string_view word, std::string_view list) {
  while (!list.empty()) {
    std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool is_function_word(std::string_view word) {
  return is_one_of(word, kFunctionWords);
}

bool is_filler_word(std::string_view word) {
  return is_function_word(word) || is_one_of(word, kFillerWords);
}

bool is_capitalized(std::string_view text) {
  return !text.empty() && (is_upper(text[0]) || static_cast<unsigned char>(text[0]) >= 0x80);
}

}  // namespace errand::llm
