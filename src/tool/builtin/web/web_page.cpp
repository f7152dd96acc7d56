#include "tool/builtin/web/web_page.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "tool/builtin/web/html_to_markdown.hpp"

namespace errand {
namespace {

constexpr auto kTextTypes = std::to_array<std::string_view>(
    {"application/javascript", "application/json", "application/ld+json", "application/sql",
     "application/toml", "application/x-httpd-php", "application/x-javascript",
     "application/x-ndjson", "application/x-sh", "application/x-yaml", "application/xml",
     "application/yaml"});
constexpr std::size_t kSniffBytes = 1024;

bool is_text_type(std::string_view media) {
  return media.starts_with("text/") || media.ends_with("+json") || media.ends_with("+xml") ||
         media.ends_with("+yaml") ||
         std::find(kTextTypes.begin(), kTextTypes.end(), media) != kTextTypes.end();
}

PageKind sniff(std::string_view body) {
  std::string head = to_lower(body.substr(0, kSniffBytes));
  if (head.find('\0') != std::string::npos) return PageKind::unreadable;
  bool is_html =
      head.find("<!doctype html") != std::string::npos || head.find("<html") != std::string::npos;
  return is_html ? PageKind::html : PageKind::text;
}

// The bytes from the `count`-th character on.
std::string_view skip_chars(std::string_view text, std::int64_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) {
    at += std::max<std::size_t>(1, utf8_sequence_length(text.substr(at, 4)));
  }
  return text.substr(std::min(at, text.size()));
}

}  // namespace

PageKind page_kind(const ContentType& type, std::string_view body) {
  if (type.media == "text/html" || type.media == "application/xhtml+xml") return PageKind::html;
  if (type.media.empty()) return sniff(body);
  return is_text_type(type.media) ? PageKind::text : PageKind::unreadable;
}

WebPage read_page(PageKind kind, const ContentType& type, std::string_view body,
                  const net::Url& url) {
  bool is_html = kind == PageKind::html;
  std::string charset = type.charset;
  if (is_html && charset.empty()) charset = declared_charset(body);
  std::string text = to_utf8(body, charset);
  if (!is_html) return {.title = {}, .text = std::move(text)};
  MarkdownPage page = html_to_markdown(text, url);
  return {.title = std::move(page.title), .text = std::move(page.markdown), .is_cut = page.is_cut};
}

std::string page_window(std::string_view text, std::int64_t start, std::int64_t chars_max) {
  auto total = static_cast<std::int64_t>(utf8_length(text));
  if (total == 0) return "[there is no text here; a page may need JavaScript to show any]";
  if (start >= total) return cat("[the text has only ", total, " characters]");
  std::string_view from = skip_chars(text, start);
  std::string_view rest = skip_chars(from, chars_max);
  std::string_view window = from.substr(0, from.size() - rest.size());
  if (start == 0 && rest.empty()) return std::string(window);
  std::int64_t end = std::min(start + chars_max, total);
  std::string note = cat("[characters ", start, " to ", end, " of ", total);
  if (!rest.empty()) append(note, "; call again with start ", end, " to read on");
  return cat(window, window.ends_with('\n') ? "" : "\n", note, "]");
}

}  // namespace errand
