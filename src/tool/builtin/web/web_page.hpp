#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/url.hpp"
#include "tool/builtin/web/charset.hpp"

namespace errand {

// How the body of an answer can be read.
enum class PageKind : std::uint8_t { html, text, unreadable };

// By its type, and by its first bytes if the server does not say.
PageKind page_kind(const ContentType& type, std::string_view body);

// An answer as text to read.
struct WebPage {
  std::string title;
  std::string text;
  bool is_cut = false;
};

// For a body of kind html or text. Takes up to two seconds for a page that is made to be slow.
WebPage read_page(PageKind kind, const ContentType& type, std::string_view body,
                  const net::Url& url);

// At most `chars_max` characters from `start` on, with what to do about the rest.
std::string page_window(std::string_view text, std::int64_t start, std::int64_t chars_max);

}  // namespace errand
