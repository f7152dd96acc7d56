#pragma once

#include <string>
#include <string_view>

#include "net/url.hpp"

namespace errand {

struct MarkdownPage {
  std::string title;     // one line; empty if there is none
  std::string markdown;  // what is there to read
  bool is_cut = false;   // a limit was met, and the rest is missing

  friend bool operator==(const MarkdownPage&, const MarkdownPage&) = default;
};

// A page never gives more text than this; beyond, it is cut.
inline constexpr std::size_t kMarkdownBytesMax = 8U * 1024 * 1024;

// A page as Markdown to read: headings, paragraphs, lists, quotes, code and tables, links with
// absolute URLs, pictures as what their authors say of them. The main part of the page, if it says
// which that is; never its menus, footers, asides and forms. Characters that mean something to
// Markdown are not escaped, because nobody renders it.
// Never fails; see parse_html for what `utf8` must be and what it may cost.
MarkdownPage html_to_markdown(std::string_view utf8, const net::Url& url);

}  // namespace errand
