#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "json/value.hpp"

namespace errand::server {

// A parameter of a query: handlers read it by this description, and /openapi.json shows it.
struct Parameter {
  enum class Kind : std::uint8_t {
    text,
    integer,
    choice,
    pairs  // KEY:VALUE, as often as wanted
  };
  static constexpr std::size_t kChoicesMax = 8;

  std::string_view name;
  Kind kind = Kind::text;
  std::string_view about;
  // Of an integer.
  std::int64_t otherwise = 0;  // when the query does not have it
  std::int64_t min = 0;
  std::int64_t max = 0;
  bool has_default = false;  // the document says what `otherwise` is
  // Of a choice; empty ones are none.
  std::array<std::string_view, kChoicesMax> choices = {};

  std::span<const std::string_view> words() const;
};

constexpr Parameter text_parameter(std::string_view name, std::string_view about) {
  return {.name = name, .about = about};
}

constexpr Parameter pairs_parameter(std::string_view name, std::string_view about) {
  return {.name = name, .kind = Parameter::Kind::pairs, .about = about};
}

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = INT64_MAX;
};

constexpr Parameter integer_parameter(std::string_view name, std::int64_t otherwise,
                                      IntegerRange range, std::string_view about) {
  return {.name = name,
          .kind = Parameter::Kind::integer,
          .about = about,
          .otherwise = otherwise,
          .min = range.min,
          .max = range.max,
          .has_default = true};
}

// An integer whose default depends on something else; the text says on what.
constexpr Parameter open_integer_parameter(std::string_view name, IntegerRange range,
                                           std::string_view about) {
  return {.name = name,
          .kind = Parameter::Kind::integer,
          .about = about,
          .min = range.min,
          .max = range.max};
}

template <class... Words>
constexpr Parameter choice_parameter(std::string_view name, std::string_view about,
                                     Words... words) {
  return {.name = name,
          .kind = Parameter::Kind::choice,
          .about = about,
          .choices = {std::string_view(words)...}};
}

// The parameter as OpenAPI describes it.
json::Object to_json(const Parameter& parameter);

}  // namespace errand::server
