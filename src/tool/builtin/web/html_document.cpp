#include "tool/builtin/web/html_document.hpp"

#include <libxml/HTMLparser.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace errand {
namespace {

struct NamedTag {
  std::string_view name;
  HtmlTag tag;
};
// Sorted by name.
constexpr auto kTags = std::to_array<NamedTag>({
    {"a", HtmlTag::a},
    {"address", HtmlTag::address},
    {"article", HtmlTag::article},
    {"aside", HtmlTag::aside},
    {"b", HtmlTag::b},
    {"base", HtmlTag::base},
    {"blockquote", HtmlTag::blockquote},
    {"body", HtmlTag::body},
    {"br", HtmlTag::br},
    {"caption", HtmlTag::caption},
    {"center", HtmlTag::center},
    {"code", HtmlTag::code},
    {"dd", HtmlTag::dd},
    {"del", HtmlTag::del},
    {"details", HtmlTag::details},
    {"div", HtmlTag::div},
    {"dl", HtmlTag::dl},
    {"dt", HtmlTag::dt},
    {"em", HtmlTag::em},
    {"fieldset", HtmlTag::fieldset},
    {"figcaption", HtmlTag::figcaption},
    {"figure", HtmlTag::figure},
    {"footer", HtmlTag::footer},
    {"form", HtmlTag::form},
    {"h1", HtmlTag::h1},
    {"h2", HtmlTag::h2},
    {"h3", HtmlTag::h3},
    {"h4", HtmlTag::h4},
    {"h5", HtmlTag::h5},
    {"h6", HtmlTag::h6},
    {"head", HtmlTag::head},
    {"header", HtmlTag::header},
    {"hr", HtmlTag::hr},
    {"html", HtmlTag::html},
    {"i", HtmlTag::i},
    {"img", HtmlTag::img},
    {"kbd", HtmlTag::kbd},
    {"li", HtmlTag::li},
    {"main", HtmlTag::main},
    {"nav", HtmlTag::nav},
    {"ol", HtmlTag::ol},
    {"p", HtmlTag::p},
    {"pre", HtmlTag::pre},
    {"s", HtmlTag::s},
    {"samp", HtmlTag::samp},
    {"section", HtmlTag::section},
    {"strike", HtmlTag::strike},
    {"strong", HtmlTag::strong},
    {"summary", HtmlTag::summary},
    {"table", HtmlTag::table},
    {"td", HtmlTag::td},
    {"th", HtmlTag::th},
    {"title", HtmlTag::title},
    {"tr", HtmlTag::tr},
    {"tt", HtmlTag::tt},
    {"ul", HtmlTag::ul},
});

struct NamedAttribute {
  std::string_view name;
  HtmlAttributeName attribute;
};
constexpr auto kAttributes = std::to_array<NamedAttribute>({
    {"alt", HtmlAttributeName::alt},
    {"aria-hidden", HtmlAttributeName::aria_hidden},
    {"class", HtmlAttributeName::class_},
    {"hidden", HtmlAttributeName::hidden},
    {"href", HtmlAttributeName::href},
    {"role", HtmlAttributeName::role},
    {"start", HtmlAttributeName::start},
});

// Sorted. Elements whose content is never text of the page.
constexpr auto kNeverText = std::to_array<std::string_view>(
    {"audio", "button", "canvas", "datalist", "dialog", "embed", "iframe", "input", "label",
     "noscript", "object", "script", "select", "style", "svg", "template", "textarea", "video"});

HtmlTag tag_of(std::string_view name) {
  auto found = std::lower_bound(kTags.begin(), kTags.end(), name,
                                [](const NamedTag& a, std::string_view b) { return a.name < b; });
  return found != kTags.end() && found->name == name ? found->tag : HtmlTag::other;
}

std::string_view view(const xmlChar* text) {
  return reinterpret_cast<const char*>(text);
}

bool is_separator(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '=' || c == '"' || c == '\'' ||
         c == '/';
}

// Takes the parser's events, and feeds the parser in pieces, so that it can be stopped.
class Builder final {
 public:
  explicit Builder(std::string_view utf8) : left_(utf8) {}

  int read(char* buffer, int size) {
    constexpr std::size_t kPieceBytes = 4096;
    bool is_too_much = depth_work_ > kHtmlDepthWorkMax || tag_work_ > kHtmlTagWorkMax ||
                       document_.events.size() >= kHtmlEventsMax;
    if (is_too_much && !left_.empty()) {
      document_.is_cut = true;
      left_ = {};
    }
    std::size_t count = std::min({left_.size(), kPieceBytes, static_cast<std::size_t>(size)});
    std::string_view piece = left_.substr(0, count);
    std::copy(piece.begin(), piece.end(), buffer);
    left_.remove_prefix(count);
    depth_work_ += count * depth_;
    auto separators =
        static_cast<std::uint64_t>(std::count_if(piece.begin(), piece.end(), is_separator));
    separators_ += separators;
    tag_work_ += separators * separators_;
    return static_cast<int>(count);
  }

  void open(const xmlChar* name, const xmlChar** attributes) {
    separators_ = 0;
    ++depth_;
    if (skipped_at_ != 0) return;
    if (std::binary_search(kNeverText.begin(), kNeverText.end(), view(name))) {
      skipped_at_ = depth_;
      return;
    }
    open_.push_back(document_.events.size());
    HtmlEvent event{.kind = HtmlEvent::Kind::open, .tag = tag_of(view(name))};
    event.begin = narrow(document_.attributes.size());
    for (; attributes && attributes[0]; attributes += 2) keep(attributes[0], attributes[1]);
    event.end = narrow(document_.attributes.size());
    document_.events.push_back(event);
  }

  void close(const xmlChar* name) {
    separators_ = 0;
    if (depth_ > 0) --depth_;
    if (skipped_at_ != 0) {
      if (depth_ < skipped_at_) skipped_at_ = 0;
      return;
    }
    // If the page ends inside an element, the parser may leave out the element's end.
    HtmlTag tag = tag_of(view(name));
    auto same = std::find_if(open_.rbegin(), open_.rend(),
                             [&](std::size_t at) { return document_.events[at].tag == tag; });
    if (same == open_.rend()) return;
    close_down_to(static_cast<std::size_t>(open_.rend() - same) - 1);
  }

  void text(const xmlChar* bytes, int size) {
    separators_ = 0;
    if (skipped_at_ != 0 || size <= 0) return;
    std::uint32_t begin = narrow(document_.text.size());
    document_.text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    std::uint32_t end = narrow(document_.text.size());
    bool goes_on =
        !document_.events.empty() && document_.events.back().kind == HtmlEvent::Kind::text;
    if (goes_on) {
      document_.events.back().end = end;
    } else {
      document_.events.push_back({.kind = HtmlEvent::Kind::text, .begin = begin, .end = end});
    }
  }

  HtmlDocument finish() {
    close_down_to(0);
    return std::move(document_);
  }

 private:
  static std::uint32_t narrow(std::size_t number) {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(number, std::numeric_limits<std::uint32_t>::max()));
  }

  void keep(const xmlChar* name, const xmlChar* value) {
    auto found =
        std::find_if(kAttributes.begin(), kAttributes.end(),
                     [&](const NamedAttribute& known) { return known.name == view(name); });
    if (found == kAttributes.end()) return;
    std::string_view text = value ? view(value) : std::string_view();
    if (text.size() > kHtmlAttributeBytesMax) return;
    document_.attributes.push_back({.name = found->attribute, .value = std::string(text)});
  }

  void close_down_to(std::size_t count) {
    while (open_.size() > count) {
      HtmlEvent& opened = document_.events[open_.back()];
      opened.partner = narrow(document_.events.size());
      HtmlTag tag = opened.tag;
      document_.events.push_back({.kind = HtmlEvent::Kind::close, .tag = tag});
      open_.pop_back();
    }
  }

  std::string_view left_;
  HtmlDocument document_;
  std::vector<std::size_t> open_;  // the opening events of the elements that are open
  std::size_t depth_ = 0;          // includes skipped elements
  std::size_t skipped_at_ = 0;     // depth of the skipped element; 0 if none
  std::uint64_t depth_work_ = 0;
  std::uint64_t separators_ = 0;  // since the last event
  std::uint64_t tag_work_ = 0;
};

Builder& builder(void* context) {
  return *static_cast<Builder*>(context);
}
void on_open(void* context, const xmlChar* name, const xmlChar** attributes) {
  builder(context).open(name, attributes);
}
void on_close(void* context, const xmlChar* name) {
  builder(context).close(name);
}
void on_text(void* context, const xmlChar* bytes, int size) {
  builder(context).text(bytes, size);
}
int on_read(void* context, char* buffer, int size) {
  return builder(context).read(buffer, size);
}
int on_end(void*) {
  return 0;
}

struct FreeParser {
  void operator()(htmlParserCtxt* parser) const { htmlFreeParserCtxt(parser); }
};

}  // namespace

const std::string* HtmlDocument::attribute(const HtmlEvent& open, HtmlAttributeName name) const {
  for (std::size_t i = open.begin; i < open.end; ++i) {
    if (attributes[i].name == name) return &attributes[i].value;
  }
  return nullptr;
}

HtmlDocument parse_html(std::string_view utf8) {
  static const bool is_ready = (xmlInitParser(), true);  // once, before any thread parses
  Builder built(utf8);
  std::unique_ptr<htmlParserCtxt, FreeParser> parser(htmlNewParserCtxt());
  if (!parser || !is_ready) throw std::bad_alloc();
  // Uses event handlers and no tree, because libxml2 limits the depth of a tree.
  *parser->sax = {};
  parser->sax->startElement = on_open;
  parser->sax->endElement = on_close;
  parser->sax->characters = on_text;
  parser->sax->cdataBlock = on_text;
  parser->sax->ignorableWhitespace = on_text;
  parser->userData = &built;
  htmlCtxtReadIO(parser.get(), on_read, on_end, &built, nullptr, "UTF-8",
                 HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                     HTML_PARSE_IGNORE_ENC);
  return built.finish();
}

}  // namespace errand
