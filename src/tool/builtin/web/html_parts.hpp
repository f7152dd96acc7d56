#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/builtin/web/html_document.hpp"

namespace errand {

// What is known of a page before any of it is written.
class HtmlParts final {
 public:
  // `document` must outlive it.
  explicit HtmlParts(const HtmlDocument& document);

  // The events of what there is to read: `begin` opens it, `end` closes it.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range main() const;

  // Whether an element that is open at `index` is none of the page's own text: menus, footers,
  // asides, forms, what is hidden.
  bool is_left_out(std::size_t index) const;
  // Whether a table holds data, in cells that are short; else it only arranges other things.
  bool is_data_table(std::size_t index) const { return is_data_table_[index]; }

  std::string title() const;
  const std::string* base() const;  // what relative links are relative to; nullptr: the page

 private:
  std::size_t text_within(std::size_t index) const {
    return text_before_[document_.events[index].partner] - text_before_[index];
  }
  std::size_t largest(HtmlTag tag) const;
  bool has_role(const HtmlEvent& open, std::string_view role) const;
  void find_data_tables();

  const HtmlDocument& document_;
  std::vector<std::uint32_t> text_before_;  // bytes of text before each event, white space aside
  std::vector<bool> is_data_table_;
};

}  // namespace errand
