#include "json/schema/message.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::json::schema {
namespace {

constexpr std::size_t kShownBytesMax = 64;
constexpr std::size_t kPatternShownBytesMax = 120;
constexpr std::size_t kListShownMax = 12;
constexpr std::size_t kPartsShownMax = 16;  // of a constant that is an array or object

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  return cat(utf8_prefix(text, bytes_max), "...");
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view many) {
  return cat(count, " ", count == 1 ? one : many);
}

// " of 1 to 3 items", " with at least 1 property"; empty if any count will do.
std::string range_phrase(const CountRange& range, std::string_view link, std::string_view one,
                         std::string_view many) {
  bool below = range.max != UINT64_MAX;
  if (range.min == 0 && !below) return {};
  if (range.min == range.max) return cat(link, "exactly ", plural(range.min, one, many));
  if (range.min == 0) return cat(link, "at most ", plural(range.max, one, many));
  if (!below) return cat(link, "at least ", plural(range.min, one, many));
  return cat(link, range.min, " to ", plural(range.max, one, many));
}

// The items with commas between them, up to a maximum number.
template <class Items, class Show>
std::string listed(const Items& items, const Show& show) {
  std::string out;
  std::size_t count = 0;
  for (const auto& item : items) {
    if (count == kListShownMax) {
      append(out, ", ... (", items.size(), " in all)");
      break;
    }
    append(out, count++ == 0 ? "" : ", ", show(item));
  }
  return out;
}

// Whether a value is small enough to be written out. Looks at no more parts than that.
bool is_small(const Value& value, std::size_t& parts_left) {
  if (parts_left == 0) return false;
  --parts_left;
  if (const auto* text = value.if_string()) return text->size() <= kShownBytesMax;
  if (const Array* array = value.if_array()) {
    return std::all_of(array->begin(), array->end(),
                       [&](const Value& item) { return is_small(item, parts_left); });
  }
  if (const Object* object = value.if_object()) {
    return std::all_of(object->begin(), object->end(), [&](const auto& member) {
      return member.key().size() <= kShownBytesMax && is_small(member.value(), parts_left);
    });
  }
  return true;
}

// A constant of the schema.
std::string constant_text(const Value& value) {
  std::size_t parts_left = kPartsShownMax;
  if (value.is_string() || !is_small(value, parts_left)) return shown(value);
  return shortened(write(value), kShownBytesMax);
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out;
  write_string(out, shortened(text, kShownBytesMax));
  return out;
}

std::string shown(const Value& value) {
  if (const auto* text = value.if_string()) return quoted(view(*text));
  if (const Array* array = value.if_array()) {
    return cat("an array of ", plural(array->size(), "item", "items"));
  }
  if (value.is_object()) return "an object";
  return write(value);
}

std::string constants_phrase(const Constants& constants) {
  if (constants.values().size() == 1) return constant_text(constants.values().front());
  return cat("one of ", listed(constants.values(), constant_text));
}

std::string number_phrase(const Node& node) {
  std::string out = node.types & type::kNumber ? "a number" : "an integer";
  if (!node.number) return out;
  const NumberRules& rules = *node.number;
  if (rules.minimum && rules.maximum) {
    append(out, " from ", write(*rules.minimum), " to ", write(*rules.maximum));
  } else if (rules.minimum) {
    append(out, " of at least ", write(*rules.minimum));
  } else if (rules.maximum) {
    append(out, " of at most ", write(*rules.maximum));
  }
  std::string_view link = rules.minimum || rules.maximum ? " and " : " ";
  if (rules.exclusive_minimum) {
    append(out, link, "greater than ", write(*rules.exclusive_minimum));
    link = " and ";
  }
  if (rules.exclusive_maximum) append(out, link, "less than ", write(*rules.exclusive_maximum));
  if (rules.multiple_of) append(out, " that is a multiple of ", write(*rules.multiple_of));
  return out;
}

std::string string_phrase(const Node& node) {
  std::string out = "a string";
  if (!node.string) return out;
  out += range_phrase(node.string->length, " of ", "character", "characters");
  if (node.string->format) append(out, " in the format ", to_string(*node.string->format));
  if (node.string->pattern) {
    append(out, " that matches ", shortened(node.string->pattern->text(), kPatternShownBytesMax));
  }
  return out;
}

std::string array_phrase(const Node& node) {
  if (!node.array) return "an array";
  return cat("an array", range_phrase(node.array->size, " of ", "item", "items"));
}

std::string object_phrase(const Node& node) {
  if (!node.object) return "an object";
  return cat("an object", range_phrase(node.object->size, " with ", "property", "properties"));
}

std::string expectation(const Node& node) {
  if (node.constants) return constants_phrase(*node.constants);
  std::vector<std::string> kinds;
  if (node.types & type::kString) kinds.push_back(string_phrase(node));
  if (node.types & (type::kNumber | type::kInteger)) kinds.push_back(number_phrase(node));
  if (node.types & type::kBoolean) kinds.emplace_back("true or false");
  if (node.types & type::kArray) kinds.push_back(array_phrase(node));
  if (node.types & type::kObject) kinds.push_back(object_phrase(node));
  if (node.types & type::kNull) kinds.emplace_back("null");
  std::string out;
  for (const std::string& kind : kinds) append(out, out.empty() ? "" : " or ", kind);
  return out;
}

std::string known_properties(const ObjectRules& rules) {
  std::vector<const Property*> known;
  for (const Property& property : rules.properties) known.push_back(&property);
  std::ranges::sort(known, {}, &Property::order);
  return listed(known, [](const Property* property) { return quoted(property->name); });
}

}  // namespace errand::json::schema
