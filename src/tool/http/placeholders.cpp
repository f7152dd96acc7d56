#include "tool/http/placeholders.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand {
namespace {

constexpr std::string_view kBegin = "{{";
constexpr std::string_view kEnd = "}}";
constexpr std::string_view kArguments = "args.";
constexpr std::string_view kSecret = "secret:";

Error not_a_placeholder(std::string_view text) {
  return Error(ErrorCode::invalid_argument,
               cat("\"{{", utf8_prefix(text, 40),
                   "\" is not a placeholder: use {{args.NAME}} or {{secret:NAME}}"));
}

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= path.size();) {
    std::size_t end = std::min(path.find('.', begin), path.size());
    out.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

Result<TemplatePart> parse_placeholder(std::string_view inside) {
  std::string_view word = trim(inside);
  if (word.starts_with(kSecret)) {
    std::string name(word.substr(kSecret.size()));
    if (is_valid_secret_name(name)) return TemplatePart(SecretPlace{std::move(name)});
  }
  if (word.starts_with(kArguments)) {
    ArgumentPlace place{.path = split(word.substr(kArguments.size())), .text = std::string(word)};
    bool is_whole = std::none_of(place.path.begin(), place.path.end(),
                                 [](const std::string& name) { return name.empty(); });
    if (is_whole) return TemplatePart(std::move(place));
  }
  return not_a_placeholder(cat(inside, kEnd));
}

std::string encoded(std::string text, Encoding encoding) {
  switch (encoding) {
    case Encoding::plain: return text;
    case Encoding::url: return percent_encode(text);
    case Encoding::json: break;
  }
  std::string quoted = json::write(json::Value(text));
  return quoted.substr(1, quoted.size() - 2);
}

std::string text_of_argument(const json::Value& value) {
  if (const auto* text = value.if_string()) return std::string(json::view(*text));
  return json::write(value);
}

}  // namespace

Result<Template> parse_template(std::string_view text) {
  Template parts;
  for (;;) {
    const std::size_t begin = std::min(text.find(kBegin), text.size());
    if (begin > 0) parts.emplace_back(std::string(text.substr(0, begin)));
    if (begin == text.size()) return parts;
    text.remove_prefix(begin + kBegin.size());
    const std::size_t end = text.find(kEnd);
    if (end == std::string_view::npos) return not_a_placeholder(text);
    ERRAND_TRY(auto part, parse_placeholder(text.substr(0, end)));
    parts.push_back(std::move(part));
    text.remove_prefix(end + kEnd.size());
  }
}

const json::Value* find_argument(const json::Object& arguments, const ArgumentPlace& place) {
  const json::Object* object = &arguments;
  const json::Value* found = nullptr;
  for (const std::string& name : place.path) {
    found = object ? object->if_contains(name) : nullptr;
    if (!found || found->is_null()) return nullptr;
    object = found->if_object();
  }
  return found;
}

std::optional<ArgumentPlace> lone_argument(std::string_view text) {
  auto parts = parse_template(text);
  if (!parts || parts->size() != 1) return {};
  if (auto* place = std::get_if<ArgumentPlace>(&parts->front())) return std::move(*place);
  return {};
}

Task<Result<std::string>> fill_template(std::string text, const json::Object* arguments,
                                        CallSecrets* secrets, Encoding encoding) {
  ERRAND_CO_TRY(auto parts, parse_template(text));
  std::string out;
  for (const TemplatePart& part : parts) {
    if (const auto* plain = std::get_if<std::string>(&part)) {
      out += *plain;
    } else if (const auto* place = std::get_if<ArgumentPlace>(&part)) {
      const json::Value* value = find_argument(*arguments, *place);
      if (!value) {
        co_return Error(
            ErrorCode::invalid_argument,
            cat("the argument \"", place->text.substr(kArguments.size()), "\" is missing"));
      }
      out += encoded(text_of_argument(*value), encoding);
    } else {
      ERRAND_CO_TRY(auto value, co_await secrets->find(std::get<SecretPlace>(part).name));
      out += encoded(std::move(value), encoding);
    }
  }
  co_return out;
}

Task<Result<json::Value>> fill_json(json::Value value, const json::Object* arguments,
                                    CallSecrets* secrets) {
  if (const auto* text = value.if_string()) {
    std::string plain(json::view(*text));
    if (auto place = lone_argument(plain)) {
      const json::Value* found = find_argument(*arguments, *place);
      co_return found ? *found : json::Value();
    }
    ERRAND_CO_TRY(auto filled,
                  co_await fill_template(std::move(plain), arguments, secrets, Encoding::plain));
    co_return json::Value(filled);
  }
  auto is_left_out = [arguments](const json::Value& item) {
    const auto* text = item.if_string();
    auto place = text ? lone_argument(json::view(*text)) : std::nullopt;
    return place && !find_argument(*arguments, *place);
  };
  if (auto* array = value.if_array()) {
    json::Array out;
    for (json::Value& item : *array) {
      if (is_left_out(item)) continue;
      ERRAND_CO_TRY(auto filled, co_await fill_json(std::move(item), arguments, secrets));
      out.push_back(std::move(filled));
    }
    co_return json::Value(std::move(out));
  }
  if (auto* object = value.if_object()) {
    json::Object out;
    for (auto& member : *object) {
      if (is_left_out(member.value())) continue;
      ERRAND_CO_TRY(auto filled, co_await fill_json(std::move(member.value()), arguments, secrets));
      out[member.key()] = std::move(filled);
    }
    co_return json::Value(std::move(out));
  }
  co_return value;
}

}  // namespace errand
