#include "llm/openai/think_tags.hpp"

#include <algorithm>
#include <utility>

namespace errand::llm {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kSpace = " \t\r\n";

// The number of bytes at the end of `text` that could be the beginning of `tag`.
std::size_t begun_at_end(std::string_view text, std::string_view tag) {
  std::size_t longest = std::min(text.size(), tag.size() - 1);
  for (std::size_t n = longest; n > 0; --n) {
    if (text.substr(text.size() - n) == tag.substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

void ThinkTags::feed(std::string_view text, std::vector<TurnEvent>& out) {
  held_ += text;
  for (bool goes_on = true; goes_on;) {
    switch (part_) {
      case Part::start: goes_on = read_start(out); break;
      case Part::thoughts: goes_on = read_thoughts(out); break;
      case Part::gap: goes_on = read_gap(); break;
      case Part::text: goes_on = read_text(out); break;
    }
  }
}

bool ThinkTags::read_start(std::vector<TurnEvent>&) {
  auto first = held_.find_first_not_of(kSpace);
  if (first == std::string::npos) return false;
  std::string_view rest = std::string_view(held_).substr(first);
  if (rest.starts_with(kOpen)) {
    held_.erase(0, first + kOpen.size());
    part_ = Part::thoughts;
    return true;
  }
  if (kOpen.starts_with(rest)) return false;
  part_ = Part::text;
  return true;
}

bool ThinkTags::read_thoughts(std::vector<TurnEvent>& out) {
  auto close = held_.find(kClose);
  bool is_closed = close != std::string::npos;
  std::size_t size = is_closed ? close : held_.size() - begun_at_end(held_, kClose);
  if (size > 0) out.emplace_back(ThinkingDelta{held_.substr(0, size)});
  held_.erase(0, is_closed ? size + kClose.size() : size);
  if (is_closed) part_ = Part::gap;
  return is_closed;
}

bool ThinkTags::read_gap() {
  auto first = held_.find_first_not_of(kSpace);
  held_.erase(0, first);
  if (first == std::string::npos) return false;
  part_ = Part::text;
  return true;
}

bool ThinkTags::read_text(std::vector<TurnEvent>& out) {
  if (!held_.empty()) out.emplace_back(TextDelta{std::exchange(held_, {})});
  return false;
}

void ThinkTags::finish(std::vector<TurnEvent>& out) {
  std::string rest = std::exchange(held_, {});
  if (rest.empty()) return;
  if (part_ == Part::thoughts) {
    out.emplace_back(ThinkingDelta{std::move(rest)});
  } else {
    out.emplace_back(TextDelta{std::move(rest)});
  }
}

}  // namespace errand::llm
