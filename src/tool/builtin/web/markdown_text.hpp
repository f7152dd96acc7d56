#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand {

// Text within one block, in which any white space is one space.
class InlineText final {
 public:
  void add(std::string_view text);
  // As it is, with a space before it if one is due.
  void add_verbatim(std::string_view text);
  void add_space() { wants_space_ = true; }
  // All of it, with a mark around it if it is not empty; the white space at its ends goes outside.
  void add_marked(const InlineText& inner, std::string_view text);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  void clear();

 private:
  std::string text_;
  bool wants_space_ = false;  // before what comes next
  bool is_led_ = false;       // white space came before the text
};

// The lines of a Markdown text: blocks with space between them, within quotes and lists.
class MarkdownLines final {
 public:
  // Deeper ones are written like the one they lie in: each line would repeat them all.
  static constexpr std::size_t kDepthMax = 12;

  // The least number of line feeds before the next block: 1 for a new line, 2 for an empty line.
  void want_gap(int line_feeds);
  // Takes back what was wanted beyond this.
  void limit_gap(int line_feeds);

  // `first` is put before the first line inside, `rest` before all other lines.
  void open_container(std::string first, std::string rest);
  void close_container();

  // One block of any number of lines; nothing if it is empty.
  void add_block(std::string_view text);

  std::string finish();
  std::size_t size() const { return out_.size(); }

 private:
  struct Container {
    std::string first;
    std::string rest;
    bool has_begun = false;
  };

  void add_gap();
  void add_prefix();

  std::string out_;
  std::vector<Container> containers_;
  std::size_t too_deep_ = 0;  // containers that are open beyond kDepthMax
  int gap_ = 0;
};

}  // namespace errand
