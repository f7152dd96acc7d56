#pragma once

#include <string>
#include <string_view>

#include "tool/builtin/web/html_document.hpp"

namespace errand {

// Whether text before and after its ends belongs to different blocks.
bool is_block(HtmlTag tag);
// Blocks that may as well stand within a heading or a link, where they are white space.
bool is_soft_block(HtmlTag tag);
// Whether a word cannot go on across its ends.
bool separates_words(HtmlTag tag);

// The language of code that a class attribute names, such as "language-c"; empty if it does not.
std::string code_language(std::string_view classes);

}  // namespace errand
