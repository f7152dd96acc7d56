#include "tool/schema_work.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "support/held_pool.hpp"
#include "support/run_task.hpp"

namespace errand::schema_work_test {
namespace {

constexpr std::size_t kPatterns = 128;  // as many as one schema may have

json::Object schema_with_patterns(std::size_t count, std::size_t seed) {
  json::Object properties;
  for (std::size_t i = 0; i < count; ++i) {
    properties[cat("p", i)] =
        json::Object{{"type", "string"}, {"pattern", cat("^[a-z]{1,5}", seed, "x", i, "$")}};
  }
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

ToolDecl tool_with(json::Object schema) {
  return {.name = "t", .description = "", .input_schema = share_schema(std::move(schema))};
}

const json::Object& any_object() {
  static const json::Object schema{{"type", "object"}, {"properties", json::Object()}};
  return schema;
}

TEST(SchemaWork, ToolsPastTheBoundOfPatternsTakeAnyObject) {
  constexpr std::size_t kTools = 6;
  std::vector<ToolDecl> tools;
  for (std::size_t i = 0; i < kTools; ++i) {
    tools.push_back(tool_with(schema_with_patterns(kPatterns, i)));
  }
  tools.push_back(tool_with({{"type", "object"}, {"required", json::Array{"a"}}}));
  json::SchemaCache cache;
  std::vector<ToolDecl> usable = usable_schemas(cache, std::move(tools));

  std::vector<bool> is_own;
  for (const ToolDecl& tool : usable) is_own.push_back(*tool.input_schema != any_object());
  EXPECT_EQ(is_own, (std::vector<bool>{true, true, true, true, false, false, true}));
  EXPECT_EQ(cache.size(), kToolPatternsMax / kPatterns);
}

TEST(SchemaWork, AToolsCompiledSchemaComesWithIt) {
  json::SchemaCache cache;
  auto usable = usable_schemas(cache, {tool_with(schema_with_patterns(1, 0))});
  ASSERT_NE(usable.at(0).checker, nullptr);
  EXPECT_TRUE(usable.at(0).checker->accepts(json::Object{{"p0", "abc0x0"}}));
  EXPECT_FALSE(usable.at(0).checker->accepts(json::Object{{"p0", "?"}}));
}

TEST(SchemaWork, ASchemaThatMakesNoSenseTakesAnythingAndPromisesNothing) {
  ToolDecl tool = tool_with({{"type", "object"}, {"properties", 7}});
  tool.output_schema = share_schema({{"type", "object"}, {"pattern", "("}});
  json::SchemaCache cache;
  auto usable = usable_schemas(cache, {tool, tool_with({{"type", "string"}})});
  EXPECT_EQ(*usable.at(0).input_schema, any_object());
  EXPECT_EQ(usable.at(0).output_schema, nullptr);
  EXPECT_EQ(*usable.at(1).input_schema, any_object());
}

class SchemaWorkOnThePool : public testing::Test {
 protected:
  void spawn(Task<void> task) {
    tasks_.spawn("test", std::move(task));
    run_ready(io_);
  }
  void let_go() {
    pool_.let_go();
    run_until(io_, [this] { return tasks_.size() == 0; });
  }

  asio::io_context io_;
  HeldPool pool_;
  SchemaWork work_{.pool = pool_.get()};
  TaskGroup tasks_{io_.get_executor(),
                   [](const char*, const std::string& what) { ADD_FAILURE() << what; }};
};

TEST_F(SchemaWorkOnThePool, SchemasAreCompiledThere) {
  std::optional<std::vector<ToolDecl>> usable;
  struct Asks {
    static Task<void> ask(SchemaWork work, ToolDecl tool,
                          std::optional<std::vector<ToolDecl>>* out) {
      auto tools = co_await with_usable_schemas(work, {std::move(tool)});
      if (tools) *out = std::move(*tools);
    }
  };
  spawn(Asks::ask(work_, tool_with(schema_with_patterns(1, 0)), &usable));
  EXPECT_EQ(work_.cache->size(), 0U);
  EXPECT_FALSE(usable);
  let_go();
  EXPECT_EQ(work_.cache->size(), 1U);
  EXPECT_TRUE(usable);
}

// Counts what is wrong with a value.
Task<void> check(SchemaWork work, json::Object schema, json::Value value,
                 std::optional<std::size_t>* out) {
  auto errors = co_await check_aside(work, share_schema(std::move(schema)),
                                     std::make_shared<const json::Value>(std::move(value)));
  if (errors) *out = errors->size();
}

const json::Object& plain_schema() {
  static const json::Object schema{{"type", "object"}, {"required", json::Array{"city"}}};
  return schema;
}

json::Value long_value() {
  return json::Object{{"texts", json::Array{std::string(9'000, 'x'), std::string(9'000, 'x')}}};
}

TEST_F(SchemaWorkOnThePool, ValuesAreCheckedThere) {
  std::optional<std::size_t> by_patterns;
  std::optional<std::size_t> in_long_value;
  spawn(check(work_, schema_with_patterns(1, 0), json::Object{{"p0", "?"}}, &by_patterns));
  spawn(check(work_, plain_schema(), long_value(), &in_long_value));
  EXPECT_FALSE(by_patterns);
  EXPECT_FALSE(in_long_value);
  let_go();
  EXPECT_EQ(by_patterns, 1U);
  EXPECT_EQ(in_long_value, 1U);
}

TEST_F(SchemaWorkOnThePool, AShortValueAndAPlainSchemaDoNotGoThere) {
  std::optional<std::size_t> wrong;
  spawn(check(work_, plain_schema(), json::Object{{"town", "Lagos"}}, &wrong));
  EXPECT_EQ(wrong, 1U);
}

}  // namespace
}  // namespace errand::schema_work_test
