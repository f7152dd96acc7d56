#include "run/elicitation.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"

namespace errand {
namespace {

json::Array words_between_commas(std::string_view text) {
  json::Array words;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    words.emplace_back(json::Value(std::string(trim(text.substr(0, comma)))));
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  }
  return words;
}

}  // namespace

json::Value form_value(const json::Object* field, const std::string& text) {
  const std::string_view type = json::text_at(field, "type");
  if (type == "string" || type.empty()) return json::Value(text);
  const std::string_view word = trim(text);
  if (type == "boolean") {
    if (equals_ignoring_case(word, "y") || equals_ignoring_case(word, "yes")) {
      return json::Value(true);
    }
    if (equals_ignoring_case(word, "n") || equals_ignoring_case(word, "no")) {
      return json::Value(false);
    }
  }
  auto parsed = json::parse(word);
  if (parsed) return std::move(*parsed);
  return type == "array" ? json::Value(words_between_commas(text)) : json::Value(text);
}

}  // namespace errand
