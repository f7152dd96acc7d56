#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace errand {

// The elements that mean something to a reader of text; all others are `other`.
enum class HtmlTag : std::uint8_t {
  other,
  a,
  address,
  article,
  aside,
  b,
  base,
  blockquote,
  body,
  br,
  caption,
  center,
  code,
  dd,
  del,
  details,
  div,
  dl,
  dt,
  em,
  fieldset,
  figcaption,
  figure,
  footer,
  form,
  h1,
  h2,
  h3,
  h4,
  h5,
  h6,
  head,
  header,
  hr,
  html,
  i,
  img,
  kbd,
  li,
  main,
  nav,
  ol,
  p,
  pre,
  s,
  samp,
  section,
  strike,
  strong,
  summary,
  table,
  td,
  th,
  title,
  tr,
  tt,
  ul
};

enum class HtmlAttributeName : std::uint8_t { alt, aria_hidden, class_, hidden, href, role, start };

struct HtmlAttribute {
  HtmlAttributeName name;
  std::string value;
};

struct HtmlEvent {
  enum class Kind : std::uint8_t { open, close, text };

  Kind kind = Kind::text;
  HtmlTag tag = HtmlTag::other;
  std::uint32_t begin = 0;    // open: of its attributes; text: of its bytes
  std::uint32_t end = 0;      // behind the last of them
  std::uint32_t partner = 0;  // open: the event that closes it
};

// A page as a flat list, in which every element that is opened is closed in order. Flat, so that no
// depth of nesting can overflow a stack. What is never text (scripts, styles, controls of forms,
// pictures in text form) is not in it.
struct HtmlDocument {
  std::vector<HtmlEvent> events;
  std::vector<HtmlAttribute> attributes;
  std::string text;
  bool is_cut = false;  // a limit was met, and the rest is missing

  // The value of an attribute of an open element; nullptr if it has none.
  const std::string* attribute(const HtmlEvent& open, HtmlAttributeName name) const;
  std::string_view text_of(const HtmlEvent& event) const {
    return std::string_view(text).substr(event.begin, event.end - event.begin);
  }
};

// Bounds on what one page may cost, whatever it holds. Beyond them, the rest is left out.
inline constexpr std::size_t kHtmlEventsMax = 1'000'000;
// The parser looks through all open elements for some tags, and through all attributes of an
// element for each: bytes times depth, and separators times separators of one tag.
inline constexpr std::uint64_t kHtmlDepthWorkMax = 600'000'000;
inline constexpr std::uint64_t kHtmlTagWorkMax = 200'000'000;
inline constexpr std::size_t kHtmlAttributeBytesMax = 4'000;  // longer ones count as missing

// Never fails: whatever it is given is read as a browser would, more or less. `utf8` must be valid
// and without NUL bytes. May take a second or two at its limits: call it where that harms nobody.
HtmlDocument parse_html(std::string_view utf8);

}  // namespace errand
