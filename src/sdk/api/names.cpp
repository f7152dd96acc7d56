#include <errand/detail/reflect.hpp>

#include "base/ascii.hpp"
#include "base/text.hpp"

// Examples of what the compilers print, g++ 12 first, clang 19 second:
//   [with auto* Member = (& errand::v1::detail::Specimen<Weather>::object.value.Weather::city)]
//   [Member = &object.value.city]
//   [with auto ...Values = {(n::Color)-1, n::Color::red}]
//   [Values = <(n::Color)-1, n::Color::red>]
//   [with T = n::Box<int>]
//   [T = n::Box<int>]
namespace errand::v1::detail {
namespace {

bool is_word(char c) {
  // Bytes of multi-byte UTF-8 characters count as letters.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// The word at the end of the text, past any brackets.
std::string_view last_word(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_word(text[end - 1])) --end;
  std::size_t start = end;
  while (start > 0 && is_word(text[start - 1])) --start;
  return text.substr(start, end - start);
}

// What follows "name = ", up to the bracket at the end.
std::string_view argument(std::string_view signature, std::string_view name) {
  std::size_t at = signature.find(cat(name, " = "));
  if (at == std::string_view::npos) return {};
  signature.remove_prefix(at + name.size() + 3);
  if (!signature.empty()) signature.remove_suffix(1);
  return signature;
}

bool opens(char c) {
  return c == '(' || c == '<' || c == '{';
}
bool closes(char c) {
  return c == ')' || c == '>' || c == '}';
}

// "(n::Color)-1" has no name; "n::Color::red" has.
std::string name_of_value(std::string_view text) {
  std::string_view word = last_word(text);
  bool is_number = word.empty() || is_digit(word.front()) || !is_word(text.back());
  return is_number ? std::string() : std::string(word);
}

}  // namespace

std::string member_name(std::string_view signature) {
  return std::string(last_word(signature));
}

std::string type_name(std::string_view signature) {
  // The last word of each qualified name is kept: "n::Box<m::Item>" becomes "Box_Item".
  std::string_view type = argument(signature, "T");
  std::string out;
  for (std::size_t at = 0; at < type.size();) {
    std::size_t end = at;
    while (end < type.size() && is_word(type[end])) ++end;
    std::string_view word = type.substr(at, end - at);
    std::string_view rest = type.substr(end);
    // A scope may be a function, whose name ends in brackets: "main()::Local".
    bool is_scope = rest.starts_with("::") || rest.starts_with("()::") || rest.starts_with("} ") ||
                    rest.starts_with("}::") || rest.starts_with(">::");
    bool is_unnamed = word == "anonymous" || word == "namespace" || word == "unnamed";
    if (!word.empty() && !is_scope && !is_unnamed) {
      if (!out.empty()) out.push_back('_');
      out.append(word);
    }
    at = end == at ? at + 1 : end;
  }
  return out.empty() ? "Type" : out;
}

std::vector<std::string> value_names(std::string_view signature) {
  std::string_view list = argument(signature, "Values");
  if (list.size() >= 2) list = list.substr(1, list.size() - 2);
  std::vector<std::string> out;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    bool is_end = at == list.size() || (list[at] == ',' && depth == 0);
    if (is_end) {
      out.push_back(name_of_value(list.substr(start, at - start)));
      start = at + 1;
    } else if (opens(list[at])) {
      ++depth;
    } else if (closes(list[at])) {
      --depth;
    }
  }
  return out;
}

}  // namespace errand::v1::detail
