#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/schema.hpp"

namespace errand::json::schema {

// Where in the value the evaluator is: a chain on its stack, turned into a pointer only for errors.
struct Location {
  const Location* parent = nullptr;
  std::string_view key;
  std::size_t index = 0;  // for an item of an array
  enum class Kind : std::uint8_t { root, member, item } kind = Kind::root;
  std::size_t depth = 0;

  Location member(std::string_view name) const {
    return {.parent = this, .key = name, .kind = Kind::member, .depth = depth + 1};
  }
  Location item(std::size_t at) const {
    return {.parent = this, .index = at, .kind = Kind::item, .depth = depth + 1};
  }
  std::string pointer() const;
};

// How much an error says about which alternative was meant.
enum class Cause : std::uint8_t { other, constant, type };

struct Failure {
  SchemaError error;
  Cause cause = Cause::other;
  std::size_t depth = 0;  // of its location
  // "expected <expected>, got <got>", where the message has this form.
  std::string expected;
  std::string got;
};

// The errors of one validation or of one alternative in it: the first kSchemaErrorsMax, without
// repetitions.
class Report final {
 public:
  bool full() const { return failures_.size() >= kSchemaErrorsMax; }
  void add(Failure failure);
  void add_all(Report&& other);

  // Adds what is wrong with the alternative that the value comes closest to; or, if the
  // alternatives differ in what they expect at one place, all that would do there. `keyword` is the
  // pointer to the "anyOf" or "oneOf", `depth` that of its location.
  void add_closest(std::vector<Report> alternatives, std::string_view keyword, std::size_t depth);

  std::vector<SchemaError> take() &&;

 private:
  struct Rank;
  Rank rank(std::size_t depth) const;
  const Failure* decisive_at(std::string_view pointer) const;

  std::vector<Failure> failures_;
};

}  // namespace errand::json::schema
