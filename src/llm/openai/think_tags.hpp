#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llm/model.hpp"

namespace errand::llm {

// Takes the thoughts out of a text that begins with <think>...</think>, as servers without a field
// for thoughts send it. Tags anywhere else are text.
class ThinkTags final {
 public:
  void feed(std::string_view text, std::vector<TurnEvent>& out);
  // The end of the text: emits what was held back as a possible start of a tag.
  void finish(std::vector<TurnEvent>& out);

 private:
  enum class Part { start, thoughts, gap, text };

  // Each takes what it can from held_; false: more text is needed.
  bool read_start(std::vector<TurnEvent>& out);
  bool read_thoughts(std::vector<TurnEvent>& out);
  bool read_gap();
  bool read_text(std::vector<TurnEvent>& out);

  Part part_ = Part::start;
  std::string held_;
};

}  // namespace errand::llm
