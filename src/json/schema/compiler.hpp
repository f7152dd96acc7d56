#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/schema/index.hpp"
#include "json/schema/node.hpp"

namespace errand::json::schema {

enum class Plain : std::uint8_t;

// Turns a schema into a program. All subschemas that the index knows are compiled one after the
// other rather than from within each other, so that chains of references cannot exhaust the stack.
// The first mistake ends the compilation.
class Compiler final {
 public:
  explicit Compiler(const CompileOptions& options);

  Result<std::unique_ptr<const Program>> run(const Source& schema);

  // Roughly what the program takes in memory.
  std::size_t bytes() const;

  // See is_plain_schema.
  static bool is_plain(const Object& schema, std::size_t& bytes_left);

 private:
  using Handler = void (Compiler::*)(const Value&);
  struct Keyword;
  static const Keyword* find_keyword(std::string_view name);
  static bool is_plain(Plain kind, const Value& value, std::size_t& bytes_left);
  static bool is_type_name(const Value& value);

  void compile(const Index::Place& place);
  void compile_keywords(const Object& schema);
  bool applies(const Keyword& keyword, const Dialect& dialect) const;
  void add_dynamic_targets();

  // Records a mistake in the keyword being compiled, at `suffix` below it.
  void fail(std::string_view suffix, std::string message);
  void fail_at(std::string_view suffix, const Error& error);
  void expected(std::string_view suffix, std::string_view what, const Value& found);

  // Read the value of a keyword; after a mistake they return something harmless.
  const Node* subschema(const Value& value, std::string_view suffix);
  const Node* subschema_at(const Value& value, std::string_view key);
  std::vector<const Node*> subschema_list(const Value& value);
  std::vector<const Node*> alternatives(const Value& value);
  std::vector<std::pair<std::string, const Node*>> subschema_map(const Value& value);
  std::vector<std::string> names(const Value& value, std::string_view suffix);
  std::optional<Value> number(const Value& value);
  std::uint64_t count(const Value& value);
  const Pattern* pattern(std::string_view text, std::string_view suffix);
  std::optional<Target> target(const Value& value);
  std::optional<Index::Place> find(const Target& target);

  NumberRules& number_rules();
  StringRules& string_rules();
  ArrayRules& array_rules();
  ObjectRules& object_rules();
  Combination& combination();
  Property& add_property(std::string_view name);
  void keep_properties();
  const Dialect& dialect() const { return index_.resources()[node_->resource].dialect; }

  // Core and applicators.
  void definitions(const Value& value);
  void ref(const Value& value);
  void dynamic_ref(const Value& value);
  void all_of(const Value& value);
  void any_of(const Value& value);
  void one_of(const Value& value);
  void negated(const Value& value);
  void condition(const Value& value);
  void then(const Value& value);
  void otherwise(const Value& value);
  void properties(const Value& value);
  void pattern_properties(const Value& value);
  void additional_properties(const Value& value);
  void property_names(const Value& value);
  void dependent_schemas(const Value& value);
  void dependencies(const Value& value);
  void prefix_items(const Value& value);
  void items(const Value& value);
  void additional_items(const Value& value);
  void contains(const Value& value);
  void unevaluated_items(const Value& value);
  void unevaluated_properties(const Value& value);

  // Assertions.
  void types(const Value& value);
  void enumeration(const Value& value);
  void constant(const Value& value);
  void minimum(const Value& value);
  void maximum(const Value& value);
  void exclusive_minimum(const Value& value);
  void exclusive_maximum(const Value& value);
  void multiple_of(const Value& value);
  void min_length(const Value& value);
  void max_length(const Value& value);
  void text_pattern(const Value& value);
  void format(const Value& value);
  void min_items(const Value& value);
  void max_items(const Value& value);
  void unique_items(const Value& value);
  void min_contains(const Value& value);
  void max_contains(const Value& value);
  void min_properties(const Value& value);
  void max_properties(const Value& value);
  void required(const Value& value);
  void dependent_required(const Value& value);

  CompileOptions options_;
  std::unique_ptr<Program> program_;
  Index index_;
  std::map<std::string, const Pattern*, std::less<>> patterns_;
  std::size_t instructions_ = 0;                               // of all patterns
  std::map<std::string, std::uint32_t, std::less<>> anchors_;  // those that a $dynamicRef names
  std::optional<Error> error_;

  // The subschema and the keyword being compiled.
  Node* node_ = nullptr;
  const Object* schema_ = nullptr;
  std::string_view keyword_;
  std::vector<Property> properties_;  // as they are mentioned, some twice
};

// The first subschema that leads back to itself without going into the value: checking it would
// never end. Null if there is none. References through a dynamic scope are not followed.
const Node* find_endless(const Program& program);

}  // namespace errand::json::schema
