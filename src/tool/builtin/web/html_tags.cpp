#include "tool/builtin/web/html_tags.hpp"

#include <algorithm>

namespace errand {
namespace {

// Returns the name only if it is valid: it goes into the line that opens a block of code.
std::string language_name(std::string_view text) {
  constexpr std::size_t kNameBytesMax = 30;
  bool is_name = text.size() <= kNameBytesMax && std::all_of(text.begin(), text.end(), [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '+' || c == '#' || c == '-' || c == '_';
                 });
  return is_name ? std::string(text) : std::string();
}

}  // namespace

bool is_soft_block(HtmlTag tag) {
  switch (tag) {
    case HtmlTag::address:
    case HtmlTag::center:
    case HtmlTag::div:
    case HtmlTag::fieldset:
    case HtmlTag::figcaption:
    case HtmlTag::figure:
    case HtmlTag::header:
    case HtmlTag::summary: return true;
    default: return false;
  }
}

bool is_block(HtmlTag tag) {
  switch (tag) {
    case HtmlTag::article:
    case HtmlTag::body:
    case HtmlTag::caption:
    case HtmlTag::details:
    case HtmlTag::dl:
    case HtmlTag::dt:
    case HtmlTag::form:
    case HtmlTag::html:
    case HtmlTag::main:
    case HtmlTag::p:
    case HtmlTag::section: return true;
    default: return is_soft_block(tag);
  }
}

bool separates_words(HtmlTag tag) {
  switch (tag) {
    case HtmlTag::blockquote:
    case HtmlTag::dd:
    case HtmlTag::hr:
    case HtmlTag::li:
    case HtmlTag::ol:
    case HtmlTag::ul: return true;
    default: return is_block(tag);
  }
}

std::string code_language(std::string_view classes) {
  while (!classes.empty()) {
    std::size_t end = std::min(classes.find(' '), classes.size());
    std::string_view one = classes.substr(0, end);
    for (std::string_view prefix : {"language-", "lang-", "highlight-source-"}) {
      if (one.starts_with(prefix)) return language_name(one.substr(prefix.size()));
    }
    classes.remove_prefix(std::min(end + 1, classes.size()));
  }
  return {};
}

}  // namespace errand
