#include <errand/describe.hpp>

namespace errand::v1 {

NumberOption range(Json min, Json max) {
  NumberOption option;
  option.keywords.set("minimum", std::move(min));
  option.keywords.set("maximum", std::move(max));
  return option;
}

NumberOption at_least(Json min) {
  NumberOption option;
  option.keywords.set("minimum", std::move(min));
  return option;
}

NumberOption at_most(Json max) {
  NumberOption option;
  option.keywords.set("maximum", std::move(max));
  return option;
}

NumberOption multiple_of(Json step) {
  NumberOption option;
  option.keywords.set("multipleOf", std::move(step));
  return option;
}

TextOption pattern(std::string expression) {
  TextOption option;
  option.keywords.set("pattern", std::move(expression));
  return option;
}

TextOption format(std::string name) {
  TextOption option;
  option.keywords.set("format", std::move(name));
  return option;
}

TextOption length(std::size_t min, std::size_t max) {
  TextOption option;
  option.keywords.set("minLength", min);
  option.keywords.set("maxLength", max);
  return option;
}

TextOption one_of(JsonArray texts) {
  TextOption option;
  option.keywords.set("enum", std::move(texts));
  return option;
}

ListOption items(std::size_t min, std::size_t max) {
  ListOption option;
  option.keywords.set("minItems", min);
  option.keywords.set("maxItems", max);
  return option;
}

}  // namespace errand::v1
