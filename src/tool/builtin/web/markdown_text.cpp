#include "tool/builtin/web/markdown_text.hpp"

#include <algorithm>
#include <utility>

namespace errand {
namespace {

constexpr std::string_view kNoBreakSpace = "\xC2\xA0";

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

std::string_view without_trailing_space(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

void InlineText::add(std::string_view text) {
  while (!text.empty()) {
    bool is_wide = text.starts_with(kNoBreakSpace);
    if (is_wide || is_space(text.front())) {
      (text_.empty() ? is_led_ : wants_space_) = true;
      text.remove_prefix(is_wide ? kNoBreakSpace.size() : 1);
      continue;
    }
    std::size_t end = 1;
    while (end < text.size() && !is_space(text[end]) && text[end] != kNoBreakSpace[0]) ++end;
    add_verbatim(text.substr(0, end));
    text.remove_prefix(end);
  }
}

void InlineText::add_verbatim(std::string_view text) {
  if (wants_space_ && !text_.empty() && !text_.ends_with('\n') && !text.starts_with('\n')) {
    text_.push_back(' ');
  }
  wants_space_ = false;
  text_.append(text);
}

void InlineText::add_marked(const InlineText& inner, std::string_view text) {
  if (inner.is_led_) (text_.empty() ? is_led_ : wants_space_) = true;
  if (!text.empty()) add_verbatim(text);
  if (inner.wants_space_) wants_space_ = true;
}

void InlineText::clear() {
  *this = {};
}

void MarkdownLines::want_gap(int line_feeds) {
  // The first block of an item goes on the line of the item's mark.
  if (!containers_.empty() && !containers_.back().has_begun) return;
  gap_ = std::max(gap_, line_feeds);
}

void MarkdownLines::limit_gap(int line_feeds) {
  gap_ = std::min(gap_, line_feeds);
}

void MarkdownLines::open_container(std::string first, std::string rest) {
  if (containers_.size() >= kDepthMax) {
    ++too_deep_;
    return;
  }
  containers_.push_back({.first = std::move(first), .rest = std::move(rest)});
}

void MarkdownLines::close_container() {
  if (too_deep_ > 0) {
    --too_deep_;
  } else if (!containers_.empty()) {
    containers_.pop_back();
  }
}

void MarkdownLines::add_gap() {
  if (out_.empty()) return;
  out_.push_back('\n');
  for (int i = 1; i < gap_; ++i) {
    std::string prefix;
    for (const Container& container : containers_) {
      if (container.has_begun) prefix += container.rest;
    }
    out_.append(without_trailing_space(prefix));
    out_.push_back('\n');
  }
}

void MarkdownLines::add_prefix() {
  for (Container& container : containers_) {
    out_.append(container.has_begun ? container.rest : container.first);
    container.has_begun = true;
  }
}

void MarkdownLines::add_block(std::string_view text) {
  if (text.empty()) return;
  add_gap();
  gap_ = 0;
  for (;;) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::size_t line = out_.size();
    add_prefix();
    out_.append(text.substr(0, end));
    while (end == 0 && out_.size() > line && out_.back() == ' ') out_.pop_back();
    if (end == text.size()) return;
    out_.push_back('\n');
    text.remove_prefix(end + 1);
  }
}

std::string MarkdownLines::finish() {
  if (!out_.empty()) out_.push_back('\n');
  return std::move(out_);
}

}  // namespace errand
