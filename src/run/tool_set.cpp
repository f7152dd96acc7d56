#include "run/tool_set.hpp"

#include <utility>

#include "json/write.hpp"

namespace errand {

ToolDecls share_decls(std::vector<ToolDecl> decls) {
  return std::make_shared<const std::vector<ToolDecl>>(std::move(decls));
}

ToolSetPtr share_tools(std::vector<ToolRef> refs, std::string text) {
  return std::make_shared<const ToolSet>(
      ToolSet{.refs = std::move(refs), .text = std::move(text), .offered = nullptr});
}

void write(std::string& out, const ToolSet& tools) {
  if (!tools.text.empty()) {
    const std::size_t begin = out.size();
    out += tools.text;
    // Line breaks stand between values only: those of strings are escaped.
    for (char line_break : {'\n', '\r'}) {
      for (std::size_t at = begin; (at = out.find(line_break, at)) != std::string::npos;) {
        out[at] = ' ';
      }
    }
    return;
  }
  out += '[';
  for (const ToolRef& ref : tools.refs) {
    if (out.back() != '[') out += ',';
    json::write(out, to_json(ref));
  }
  out += ']';
}

ToolSetPtr ToolSetCache::find(std::string_view text) {
  auto known = by_text_.find(text);
  if (known == by_text_.end()) return nullptr;
  sets_.splice(sets_.begin(), sets_, known->second);
  return *known->second;
}

void ToolSetCache::insert(ToolSetPtr tools) {
  const std::string& text = tools->text;
  if (text.empty() || text.size() > kTextBytesMax || by_text_.contains(text)) return;
  bytes_ += text.size();
  sets_.push_front(std::move(tools));
  by_text_.emplace(sets_.front()->text, sets_.begin());
  while (sets_.size() > kSetsMax || bytes_ > kTextBytesMax) {
    bytes_ -= sets_.back()->text.size();
    by_text_.erase(sets_.back()->text);
    sets_.pop_back();
  }
}

}  // namespace errand
