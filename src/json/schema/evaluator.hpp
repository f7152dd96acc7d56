#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema/budget.hpp"
#include "json/schema/node.hpp"
#include "json/schema/report.hpp"

namespace errand::json::schema {

// Which members of an object or items of an array some keyword has looked at. Only made where
// "unevaluatedProperties" or "unevaluatedItems" will ask.
class Marks final {
 public:
  void mark(std::size_t index);
  void mark_all() { all_ = true; }
  bool has(std::size_t index) const;
  bool all() const { return all_; }
  void merge(const Marks& other);

 private:
  bool all_ = false;
  std::uint64_t first_ = 0;          // of the first 64, which most values have
  std::vector<std::uint64_t> more_;  // of the rest
};

// Checks one value against a program. Quick and silent first; a second evaluator with a report says
// what is wrong.
class Evaluator final {
 public:
  // `report` may be null. Both outlive the evaluator.
  // Takes at most so many steps, and no more than the program's own limit.
  Evaluator(const Program& program, Report* report, std::int64_t work_max);

  bool check(const Value& value);

  // Whether it gave up, so that check() says nothing about the value.
  bool gave_up() const { return budget_.spent(); }

 private:
  // The resources entered so far, innermost first: what a $dynamicRef looks through.
  struct Scope {
    const Scope* outer = nullptr;
    std::uint32_t resource = 0;
  };
  class Frame;
  class Silence;

  bool check(const Node& node, const Value& value, const Location& at, Marks* marks);
  bool check_rules(const Node& node, const Value& value, const Location& at, Marks* marks);
  bool check_unevaluated(const Node& node, const Value& value, const Location& at, Marks& marks);

  // The value itself.
  bool check_type(const Node& node, const Value& value, const Location& at);
  bool check_constants(const Node& node, const Value& value, const Location& at);
  bool check_number(const Node& node, const Value& value, const Location& at);
  bool check_string(const Node& node, const Value& value, const Location& at);
  bool check_array(const Node& node, const Array& array, const Location& at, Marks* marks);
  bool check_items(const ArrayRules& rules, const Array& array, const Location& at, Marks* marks);
  bool check_contains(const Node& node, const Array& array, const Location& at, Marks* marks);
  bool check_object(const Node& node, const Value& value, const Location& at, Marks* marks);
  bool check_members(const Node& node, const Object& object, const Location& at, Marks* marks);
  bool check_member(const Node& node, std::string_view name, const Value& value,
                    const Property* property, const Location& at, Marks* marks, std::size_t index);
  bool check_name(const Node& node, std::string_view name, const Location& at);
  bool check_dependencies(const Node& node, const Value& value, const Location& at, Marks* marks);

  // Other schemas for the same value.
  bool check_combination(const Node& node, const Value& value, const Location& at, Marks* marks);
  bool check_dynamic(const Combination& rules, const Value& value, const Location& at,
                     Marks* marks);
  bool check_condition(const Combination& rules, const Value& value, const Location& at,
                       Marks* marks);
  enum class Wanted { any, one };
  bool check_alternatives(const Node& node, Wanted wanted, const Value& value, const Location& at,
                          Marks* marks);
  // Whether a schema fits, without reporting anything.
  bool fits(const Node& node, const Value& value, const Location& at, Marks* marks);

  // They return false. `message()` is called only if somebody will read it.
  template <class Message>
  bool fail(const Node& node, std::string_view keyword, const Location& at,
            const Message& message) {
    if (report_) add_failure(node, keyword, at, message());
    return false;
  }
  // "expected <expected()>, got <got()>".
  template <class Expected, class Got>
  bool fail(const Node& node, std::string_view keyword, const Location& at, Cause cause,
            const Expected& expected, const Got& got) {
    if (report_) add_failure(node, keyword, at, cause, expected(), got());
    return false;
  }
  void add_failure(const Node& node, std::string_view keyword, const Location& at,
                   std::string message);
  void add_failure(Failure failure);
  void add_failure(const Node& node, std::string_view keyword, const Location& at, Cause cause,
                   std::string expected, std::string got);
  bool fail_missing(const Node& node, const Object& object, const Location& at);
  bool fail_unexpected(const Node& node, std::string_view keyword, std::string_view name,
                       const Location& at);

  // After a failure only an evaluator with a report goes on.
  bool goes_on(bool ok) const { return ok || report_; }

  const Program& program_;
  Report* report_;
  Budget budget_;
  std::size_t frames_ = 0;
  const Scope* scope_ = nullptr;
};

}  // namespace errand::json::schema
