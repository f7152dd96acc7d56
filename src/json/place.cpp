#include "json/place.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/value.hpp"

namespace errand::json {
namespace {

// Decodes "~1" and "~0" in a step of a pointer.
std::string decoded(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    bool is_escape = step[i] == '~' && i + 1 < step.size();
    if (is_escape) {
      out += step[++i] == '1' ? '/' : '~';
    } else {
      out += step[i];
    }
  }
  return out;
}

// Walks along a text of valid JSON, which may have comments.
class Walker final {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() { ++at_; }

  // Skips white space, comments, commas and colons.
  void skip_gap() {
    for (; at_ < text_.size(); ++at_) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (text_.substr(at_).starts_with("/*")) {
        std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() - 1 : end + 1;
      } else if (std::string_view(" \t\r\n,:").find(text_[at_]) == std::string_view::npos) {
        return;
      }
    }
  }

  // Takes a string with its quotes.
  std::string_view take_string() {
    std::size_t start = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(start, at_ - start);
  }

  void skip_value() {
    std::size_t depth = 0;
    do {
      skip_gap();
      char c = peek();
      if (c == '"') {
        take_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        step();
      } else if (c == '}' || c == ']') {
        --depth;
        step();
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n,:]}/", at_), text_.size());
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Moves to the value of a member and returns the position of its key. Empty if the object lacks the
// member.
std::optional<std::size_t> enter_member(Walker& walker, std::string_view key) {
  walker.step();
  for (walker.skip_gap(); walker.peek() == '"'; walker.skip_gap()) {
    std::size_t start = walker.at();
    auto name = parse(walker.take_string());
    walker.skip_gap();
    if (name && name->is_string() && view(name->get_string()) == key) return start;
    walker.skip_value();
  }
  return {};
}

std::optional<std::size_t> enter_item(Walker& walker, std::string_view step) {
  auto index = parse_integer<std::size_t>(step);
  if (!index) return {};
  walker.step();
  walker.skip_gap();
  for (std::size_t i = 0; i < *index && walker.peek() != ']' && walker.peek() != '\0'; ++i) {
    walker.skip_value();
    walker.skip_gap();
  }
  if (walker.peek() == ']' || walker.peek() == '\0') return {};
  return walker.at();
}

// The byte offset at the end of a message of parse().
std::optional<std::size_t> byte_in(std::string_view message) {
  constexpr std::string_view kAtByte = " at byte ";
  std::size_t mark = message.rfind(kAtByte);
  if (mark == std::string_view::npos) return {};
  return parse_integer<std::size_t>(message.substr(mark + kAtByte.size()));
}

std::string placed(std::string_view file, Place place, std::string_view message) {
  return cat(file, ":", place.line, ":", place.column, ": ", message);
}

}  // namespace

Place place_at(std::string_view text, std::size_t byte) {
  std::string_view before = text.substr(0, std::min(byte, text.size()));
  Place place;
  place.line += static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  std::size_t start = before.rfind('\n') + 1;  // 0 if there is none
  place.column += static_cast<std::size_t>(
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(start), before.end(),
                    [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  return place;
}

Place place_of(std::string_view text, std::string_view pointer) {
  Walker walker(text);
  walker.skip_gap();
  std::size_t found = walker.at();
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    std::size_t end = std::min(pointer.find('/'), pointer.size());
    std::string step = decoded(pointer.substr(0, end));
    pointer.remove_prefix(end);
    std::optional<std::size_t> next;
    if (walker.peek() == '{') next = enter_member(walker, step);
    if (!next && walker.peek() == '[') next = enter_item(walker, step);
    if (!next) break;
    found = *next;
  }
  return place_at(text, found);
}

Error in_file(std::string_view file, std::string_view text, const Error& error) {
  std::string message = error.describe();
  if (!error.pointer().empty()) {
    message = placed(file, place_of(text, error.pointer()), message);
  } else if (auto byte = byte_in(message)) {
    std::string_view said = std::string_view(message).substr(0, message.rfind(" at byte "));
    message = placed(file, place_at(text, *byte), said);
  } else {
    message = cat(file, ": ", message);
  }
  Error placed_error = Error(error.code(), std::move(message))
                           .reason(error.reason())
                           .hint(error.hint())
                           .candidates(error.candidates());
  if (error.limit().empty()) return placed_error;
  return std::move(placed_error).limit(error.limit(), error.max());
}

}  // namespace errand::json
