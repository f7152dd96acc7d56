#include "tool/builtin/web/html_to_markdown.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tool/builtin/web/html_document.hpp"
#include "tool/builtin/web/html_parts.hpp"
#include "tool/builtin/web/html_tags.hpp"
#include "tool/builtin/web/markdown_text.hpp"

namespace errand {
namespace {

using Kind = HtmlEvent::Kind;

// What text is gathered for until the element ends.
enum class Gathering : std::uint8_t { strong, emphasis, deleted, code, link, heading, pre, cell };

struct Gathered {
  Gathering what;
  std::size_t index;  // of the opening event
  InlineText text = {};
  std::string raw = {};  // for pre
  std::string url = {};  // for link
  int level = 0;         // for heading
};

struct List {
  bool is_ordered = false;
  std::int64_t next = 1;
};

// A row of backticks that is longer than the longest one in the text.
std::string fence_for(std::string_view text, std::size_t least) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest >= least ? longest + 1 : least, '`');
}

std::string marked(const Gathered& gathered) {
  const std::string& text = gathered.text.text();
  if (text.empty()) return {};
  switch (gathered.what) {
    case Gathering::strong: return cat("**", text, "**");
    case Gathering::emphasis: return cat("*", text, "*");
    case Gathering::deleted: return cat("~~", text, "~~");
    case Gathering::link: return cat("[", text, "](", gathered.url, ")");
    case Gathering::code: {
      std::string fence = fence_for(text, 1);
      return fence.size() == 1 ? cat(fence, text, fence) : cat(fence, " ", text, " ", fence);
    }
    default: return text;
  }
}

std::optional<Gathering> inline_mark(HtmlTag tag) {
  switch (tag) {
    case HtmlTag::b:
    case HtmlTag::strong: return Gathering::strong;
    case HtmlTag::i:
    case HtmlTag::em: return Gathering::emphasis;
    case HtmlTag::del:
    case HtmlTag::s:
    case HtmlTag::strike: return Gathering::deleted;
    case HtmlTag::code:
    case HtmlTag::kbd:
    case HtmlTag::samp:
    case HtmlTag::tt: return Gathering::code;
    default: return {};
  }
}

// Walks over the events of a page and writes Markdown. Open elements are kept in lists, so that
// deep nesting costs no stack.
class Renderer final {
 public:
  Renderer(const HtmlDocument& document, const HtmlParts& parts, net::Url base)
      : document_(document), parts_(parts), base_(std::move(base)) {}

  // Returns false if there was more than fits.
  bool render(HtmlParts::Range range) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (written_ + lines_.size() > kMarkdownBytesMax) return false;
      const HtmlEvent& event = document_.events[i];
      if (event.kind == Kind::text) {
        text(document_.text_of(event));
      } else if (event.kind == Kind::close) {
        close(event.tag);
      } else if (parts_.is_left_out(i) && i != range.begin) {
        i = event.partner;
      } else {
        opened_.push_back(i);
        open(event, i);
      }
    }
    return true;
  }

  std::string finish() {
    settle();
    return lines_.finish();
  }

 private:
  InlineText& here() { return gathered_.empty() ? paragraph_ : gathered_.back().text; }
  bool is_gathering(Gathering what) const {
    return std::any_of(gathered_.begin(), gathered_.end(),
                       [&](const Gathered& one) { return one.what == what; });
  }
  bool is_within_cell() const { return is_gathering(Gathering::cell); }
  bool is_verbatim() const { return is_gathering(Gathering::pre); }

  void text(std::string_view text) {
    written_ += text.size();
    if (is_verbatim()) {
      gathered_.back().raw.append(text);
    } else {
      here().add(text);
    }
  }

  void flush_paragraph() {
    lines_.add_block(paragraph_.text());
    paragraph_.clear();
  }

  // Ends everything that is being gathered before a block begins, as if its elements had been
  // closed.
  void settle() {
    for (Gathered& one : gathered_) {
      if (one.what == Gathering::heading) {
        write_heading(one);
      } else {
        if (one.what == Gathering::link && one.text.empty()) bare_links_.push_back(one);
        paragraph_.add_marked(one.text, marked(one));
      }
    }
    gathered_.clear();
    flush_paragraph();
  }

  // Begins or ends a block, with `gap` line feeds before the next text.
  void begin_block(int gap) {
    if (is_within_cell() || is_verbatim()) return here().add_space();
    settle();
    lines_.want_gap(gap);
  }

  void begin_soft_block() {
    if (is_gathering(Gathering::link) || is_gathering(Gathering::heading)) {
      return here().add_space();
    }
    begin_block(2);
  }

  void gather(Gathering what, std::size_t index) {
    gathered_.push_back({.what = what, .index = index});
  }

  void open(const HtmlEvent& event, std::size_t index) {
    if (is_verbatim()) return open_verbatim(event);
    if (auto mark = inline_mark(event.tag)) {
      bool is_plain = is_gathering(*mark) || is_gathering(Gathering::code);
      if (!is_plain) gather(*mark, index);
      return;
    }
    if (event.tag >= HtmlTag::h1 && event.tag <= HtmlTag::h6) return open_heading(event, index);
    switch (event.tag) {
      case HtmlTag::a: return open_link(event, index);
      case HtmlTag::img: return add_image(event);
      case HtmlTag::br: return add_line_break();
      case HtmlTag::hr: return add_rule();
      case HtmlTag::pre:
        begin_block(2);
        language_ = language_of(event);
        return gather(Gathering::pre, index);
      case HtmlTag::table:
      case HtmlTag::tr:
      case HtmlTag::td:
      case HtmlTag::th: return open_table_part(event, index);
      default: return open_block(event);
    }
  }

  void open_block(const HtmlEvent& event) {
    if (is_within_cell()) {
      if (separates_words(event.tag)) here().add_space();
      return;
    }
    switch (event.tag) {
      case HtmlTag::ul:
      case HtmlTag::ol: return open_list(event);
      case HtmlTag::li: return open_item();
      case HtmlTag::dd: return open_definition();
      case HtmlTag::blockquote: return open_quote();
      default: break;
    }
    if (is_soft_block(event.tag)) return begin_soft_block();
    if (is_block(event.tag)) begin_block(2);
  }

  void close(HtmlTag tag) {
    if (opened_.empty()) return;
    std::size_t index = opened_.back();
    opened_.pop_back();
    if (!gathered_.empty() && gathered_.back().index == index) return close_gathered();
    if (tag == HtmlTag::a) return close_bare_link(index);
    if (is_verbatim() || is_within_cell()) {
      if (separates_words(tag)) here().add_space();
      return;
    }
    switch (tag) {
      case HtmlTag::ul:
      case HtmlTag::ol:
        settle();
        if (!lists_.empty()) lists_.pop_back();
        return lines_.want_gap(lists_.empty() ? 2 : 1);
      case HtmlTag::li: close_container(); return lines_.limit_gap(1);
      case HtmlTag::dd:
      case HtmlTag::blockquote: return close_container();
      case HtmlTag::table: return close_table(index);
      case HtmlTag::tr:
        if (tables_.empty()) begin_block(1);
        return;
      default: break;
    }
    if (is_soft_block(tag)) return begin_soft_block();
    if (is_block(tag)) begin_block(2);
  }

  void close_container() {
    settle();
    lines_.close_container();
    lines_.want_gap(2);
  }

  void close_gathered() {
    Gathered done = std::move(gathered_.back());
    gathered_.pop_back();
    switch (done.what) {
      case Gathering::heading: return write_heading(done);
      case Gathering::pre: return write_code(done.raw);
      case Gathering::cell: return add_cell(done.text.text());
      default: break;
    }
    std::string whole = marked(done);
    written_ += whole.size();
    here().add_marked(done.text, whole);
  }

  // Inside pre, elements contribute only their text.
  void open_verbatim(const HtmlEvent& event) {
    if (event.tag == HtmlTag::br) gathered_.back().raw.push_back('\n');
    if (event.tag == HtmlTag::code && language_.empty()) language_ = language_of(event);
  }

  std::string language_of(const HtmlEvent& event) const {
    const std::string* classes = document_.attribute(event, HtmlAttributeName::class_);
    return classes ? code_language(*classes) : std::string();
  }

  void write_code(std::string_view raw) {
    if (raw.starts_with('\n')) raw.remove_prefix(1);
    while (raw.ends_with('\n') || raw.ends_with(' ')) raw.remove_suffix(1);
    if (raw.empty()) return;
    std::string fence = fence_for(raw, 3);
    lines_.add_block(cat(fence, language_, "\n", raw, "\n", fence));
    lines_.want_gap(2);
  }

  void open_heading(const HtmlEvent& event, std::size_t index) {
    if (is_within_cell()) return here().add_space();
    begin_block(2);
    gather(Gathering::heading, index);
    gathered_.back().level = static_cast<int>(event.tag) - static_cast<int>(HtmlTag::h1) + 1;
  }
  void write_heading(const Gathered& heading) {
    if (heading.text.empty()) return;
    std::string line = heading.text.text();
    std::replace(line.begin(), line.end(), '\n', ' ');
    lines_.add_block(cat(std::string(static_cast<std::size_t>(heading.level), '#'), " ", line));
    lines_.want_gap(2);
  }

  void open_link(const HtmlEvent& event, std::size_t index) {
    const std::string* href = document_.attribute(event, HtmlAttributeName::href);
    bool is_within_page = !href || href->empty() || href->starts_with('#');
    if (is_within_page || is_gathering(Gathering::link) || is_gathering(Gathering::code)) return;
    auto url = net::resolve_url(base_, *href);
    if (!url) return;
    gather(Gathering::link, index);
    for (char c : *url) {
      if (c == '(' || c == ')') {
        gathered_.back().url += c == '(' ? "%28" : "%29";
      } else {
        gathered_.back().url.push_back(c);
      }
    }
  }
  // A link around whole blocks is written after them.
  void close_bare_link(std::size_t index) {
    if (bare_links_.empty() || bare_links_.back().index != index) return;
    std::string url = std::move(bare_links_.back().url);
    bare_links_.pop_back();
    written_ += url.size();
    begin_block(2);
    here().add_verbatim(cat("<", url, ">"));
    begin_block(2);
  }

  void add_image(const HtmlEvent& event) {
    const std::string* alt = document_.attribute(event, HtmlAttributeName::alt);
    InlineText text;
    if (alt) text.add(*alt);
    if (!text.empty()) here().add_verbatim(cat("[image: ", text.text(), "]"));
  }

  void add_line_break() {
    if (gathered_.empty() && !paragraph_.empty()) {
      paragraph_.add_verbatim("\n");
    } else {
      here().add_space();
    }
  }

  void add_rule() {
    begin_block(2);
    if (is_within_cell()) return;
    lines_.add_block("---");
    lines_.want_gap(2);
  }

  void open_list(const HtmlEvent& event) {
    begin_block(2);
    if (!lists_.empty()) lines_.limit_gap(1);
    List list{.is_ordered = event.tag == HtmlTag::ol};
    const std::string* start = document_.attribute(event, HtmlAttributeName::start);
    if (start) list.next = parse_integer<std::int32_t>(*start).value_or(1);
    lists_.push_back(list);
  }
  void open_item() {
    begin_block(1);
    bool is_ordered = !lists_.empty() && lists_.back().is_ordered;
    std::string mark = is_ordered ? cat(lists_.back().next++, ". ") : "- ";
    std::string indent(mark.size(), ' ');
    lines_.open_container(std::move(mark), std::move(indent));
  }

  void open_definition() {
    begin_block(1);
    lines_.limit_gap(1);
    lines_.open_container(": ", "  ");
  }
  void open_quote() {
    begin_block(2);
    lines_.open_container("> ", "> ");
  }

  void open_table_part(const HtmlEvent& event, std::size_t index) {
    if (event.tag == HtmlTag::table) {
      begin_block(2);
      if (parts_.is_data_table(index)) tables_.push_back({.index = index});
      return;
    }
    if (tables_.empty()) {
      if (event.tag == HtmlTag::tr) return begin_block(1);
      return here().add_space();
    }
    if (event.tag == HtmlTag::tr || tables_.back().rows.empty()) tables_.back().rows.emplace_back();
    if (event.tag == HtmlTag::tr) return;
    settle();  // text between the cells
    gather(Gathering::cell, index);
  }

  void add_cell(std::string_view text) {
    std::string cell;
    for (char c : text) {
      if (c == '|') cell.push_back('\\');
      cell.push_back(c == '\n' ? ' ' : c);
    }
    if (!tables_.empty()) tables_.back().rows.back().push_back(std::move(cell));
  }

  void close_table(std::size_t index) {
    settle();
    if (!tables_.empty() && tables_.back().index == index) {
      write_table(tables_.back().rows);
      tables_.pop_back();
    }
    lines_.want_gap(2);
  }

  void write_table(const std::vector<std::vector<std::string>>& rows) {
    std::size_t columns = 0;
    for (const auto& row : rows) columns = std::max(columns, row.size());
    std::string out;
    for (const auto& row : rows) {
      if (row.empty()) continue;
      bool is_first = out.empty();
      if (!is_first) out.push_back('\n');
      out.push_back('|');
      for (std::size_t i = 0; i < columns && i < row.size(); ++i) append(out, " ", row[i], " |");
      for (std::size_t i = row.size(); is_first && i < columns; ++i) out += "  |";
      if (!is_first) continue;
      out += "\n|";
      for (std::size_t i = 0; i < columns; ++i) out += " --- |";
    }
    lines_.add_block(out);
  }

  struct Table {
    std::size_t index;
    std::vector<std::vector<std::string>> rows = {};
  };

  const HtmlDocument& document_;
  const HtmlParts& parts_;
  const net::Url base_;
  MarkdownLines lines_;
  InlineText paragraph_;
  std::vector<Gathered> gathered_;    // at most one of each kind, the innermost last
  std::vector<Gathered> bare_links_;  // a block has begun in them before any text
  std::vector<std::size_t> opened_;
  std::vector<List> lists_;
  std::vector<Table> tables_;  // data tables, which hold no other tables
  std::string language_;       // of the open pre
  std::size_t written_ = 0;
};

}  // namespace

MarkdownPage html_to_markdown(std::string_view utf8, const net::Url& url) {
  HtmlDocument document = parse_html(utf8);
  HtmlParts parts(document);
  net::Url base = url;
  if (const std::string* href = parts.base()) {
    auto resolved = net::resolve_url(url, *href);
    auto parsed = resolved ? net::parse_url(*resolved) : Result<net::Url>(url);
    if (parsed) base = std::move(*parsed);
  }
  Renderer renderer(document, parts, std::move(base));
  bool is_whole = renderer.render(parts.main());
  return {.title = parts.title(),
          .markdown = renderer.finish(),
          .is_cut = document.is_cut || !is_whole};
}

}  // namespace errand
