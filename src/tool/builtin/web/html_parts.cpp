#include "tool/builtin/web/html_parts.hpp"

#include <algorithm>
#include <array>

#include "tool/builtin/web/markdown_text.hpp"

namespace errand {
namespace {

using Kind = HtmlEvent::Kind;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kCellBytesMax = 2'000;  // a longer cell is not one of data
constexpr auto kOtherRoles = std::to_array<std::string_view>(
    {"navigation", "contentinfo", "complementary", "search", "dialog", "menu", "menubar"});

std::uint32_t count_visible(std::string_view text) {
  return static_cast<std::uint32_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > 0x20; }));
}

bool is_no_cell_content(HtmlTag tag) {
  return tag == HtmlTag::table || tag == HtmlTag::pre || tag == HtmlTag::blockquote ||
         (tag >= HtmlTag::h1 && tag <= HtmlTag::h6);
}

}  // namespace

HtmlParts::HtmlParts(const HtmlDocument& document) : document_(document) {
  std::uint32_t total = 0;
  for (const HtmlEvent& event : document_.events) {
    text_before_.push_back(total);
    if (event.kind == Kind::text) total += count_visible(document_.text_of(event));
  }
  is_data_table_.resize(document_.events.size());
  find_data_tables();
}

void HtmlParts::find_data_tables() {
  struct Table {
    std::size_t index;
    std::size_t columns = 0;  // of the row
    std::size_t columns_max = 0;
    bool is_layout = false;
  };
  std::vector<Table> open;
  for (std::size_t i = 0; i < document_.events.size(); ++i) {
    const HtmlEvent& event = document_.events[i];
    if (event.kind == Kind::close && event.tag == HtmlTag::table && !open.empty()) {
      Table& table = open.back();
      is_data_table_[table.index] = !table.is_layout && table.columns_max > 1;
      open.pop_back();
    }
    if (event.kind != Kind::open) continue;
    if (!open.empty() && is_no_cell_content(event.tag)) open.back().is_layout = true;
    if (event.tag == HtmlTag::table) {
      open.push_back({.index = i});
      if (has_role(event, "presentation")) open.back().is_layout = true;
    }
    if (open.empty()) continue;
    if (event.tag == HtmlTag::tr) open.back().columns = 0;
    if (event.tag != HtmlTag::td && event.tag != HtmlTag::th) continue;
    open.back().columns_max = std::max(open.back().columns_max, ++open.back().columns);
    if (text_within(i) > kCellBytesMax) open.back().is_layout = true;
  }
}

bool HtmlParts::has_role(const HtmlEvent& open, std::string_view role) const {
  const std::string* value = document_.attribute(open, HtmlAttributeName::role);
  return value && *value == role;
}

// The opening event of the element with this tag that has the most text.
std::size_t HtmlParts::largest(HtmlTag tag) const {
  std::size_t best = kNone;
  for (std::size_t i = 0; i < document_.events.size(); ++i) {
    const HtmlEvent& event = document_.events[i];
    if (event.kind != Kind::open) continue;
    bool fits = event.tag == tag || (tag == HtmlTag::main && has_role(event, "main"));
    if (fits && (best == kNone || text_within(i) > text_within(best))) best = i;
  }
  return best;
}

HtmlParts::Range HtmlParts::main() const {
  if (document_.events.empty()) return {};
  std::size_t whole = text_before_.back();
  // A main element with little text is a shell that a script would fill, and one article of many is
  // not the page.
  std::size_t main = largest(HtmlTag::main);
  if (main != kNone && text_within(main) * 10 >= whole) {
    return {.begin = main, .end = document_.events[main].partner};
  }
  std::size_t article = largest(HtmlTag::article);
  if (article != kNone && text_within(article) * 2 >= whole) {
    return {.begin = article, .end = document_.events[article].partner};
  }
  return {.begin = 0, .end = document_.events.size()};
}

bool HtmlParts::is_left_out(std::size_t index) const {
  const HtmlEvent& open = document_.events[index];
  switch (open.tag) {
    case HtmlTag::aside:
    case HtmlTag::footer:
    case HtmlTag::head:
    case HtmlTag::nav:
    case HtmlTag::title: return true;
    // Some pages are one large form.
    case HtmlTag::form: return text_within(index) * 2 < text_before_.back();
    default: break;
  }
  if (open.begin == open.end) return false;
  const std::string* hidden = document_.attribute(open, HtmlAttributeName::aria_hidden);
  if (document_.attribute(open, HtmlAttributeName::hidden) || (hidden && *hidden == "true")) {
    return true;
  }
  return std::any_of(kOtherRoles.begin(), kOtherRoles.end(),
                     [&](std::string_view role) { return has_role(open, role); });
}

std::string HtmlParts::title() const {
  InlineText title;
  for (std::size_t i = 0; i < document_.events.size(); ++i) {
    const HtmlEvent& open = document_.events[i];
    if (open.kind != Kind::open || open.tag != HtmlTag::title) continue;
    for (std::size_t inside = i; inside < open.partner; ++inside) {
      const HtmlEvent& event = document_.events[inside];
      if (event.kind == Kind::text) title.add(document_.text_of(event));
    }
    break;
  }
  return title.text();
}

const std::string* HtmlParts::base() const {
  for (const HtmlEvent& event : document_.events) {
    if (event.kind != Kind::open || event.tag != HtmlTag::base) continue;
    if (const std::string* href = document_.attribute(event, HtmlAttributeName::href)) return href;
  }
  return nullptr;
}

}  // namespace errand
