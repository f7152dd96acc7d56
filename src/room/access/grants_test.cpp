#include "room/access/grants.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::room::grants_test {
namespace {

ApiScope scope_of(std::string_view text) {
  return parse_api_scope(json::parse(text).value()).value();
}

std::string agents_of(std::string_view text) {
  ApiScope scope = scope_of(text);
  if (!scope.agents) return "none";
  const AgentsGrant& grant = *scope.agents;
  return cat(grant.register_public_toolkit ? "public " : "",
             grant.register_private_toolkit ? "private " : "", grant.call ? "call " : "",
             grant.use_tools ? "use " : "", grant.toolkits.allows("a") ? "a" : "",
             grant.toolkits.allows("b") ? "b" : "");
}

TEST(ApiScope, AMissingSurfaceIsDeniedAndAnEmptyOneGranted) {
  struct Row {
    std::string_view scope;
    std::string_view agents;
  };
  const Row rows[] = {
      {"{}", "none"},
      {R"({"agents":null})", "none"},
      {R"({"agents":{}})", "public private call use ab"},
      {R"({"agents":{"call":false}})", "public private use ab"},
      {R"({"agents":{"register_public_toolkit":false,"use_tools":false}})", "private call ab"},
      {R"({"agents":{"registerPrivateToolkit":false,"useTools":false}})", "public call ab"},
      {R"({"agents":{"allowed_toolkits":["a"]}})", "public private call use a"},
      {R"({"agents":{"allowedToolkits":[]}})", "public private call use "},
      {R"({"agents":{"allowed_toolkits":null,"later":1}})", "public private call use ab"},
  };
  for (const Row& row : rows) EXPECT_EQ(agents_of(row.scope), row.agents) << row.scope;
}

TEST(ApiScope, RefusesValuesOfAnotherType) {
  const std::string_view rows[] = {
      "[]",
      R"({"agents":true})",
      R"({"agents":{"call":"no"}})",
      R"({"agents":{"allowed_toolkits":"a"}})",
      R"({"agents":{"allowed_toolkits":[1]}})",
      R"({"storage":{"paths":[{}]}})",
      R"({"storage":{"files":{"paths":[{"path":1}]}}})",
  };
  for (std::string_view row : rows) {
    EXPECT_FALSE(parse_api_scope(json::parse(row).value())) << row;
  }
}

TEST(ApiScope, GrantsQueuesByName) {
  ApiScope scope = scope_of(R"({"queues":{"send":["q"],"list":false}})");
  EXPECT_TRUE(scope.queues->send.allows("q"));
  EXPECT_FALSE(scope.queues->send.allows("r"));
  EXPECT_TRUE(scope.queues->receive.allows("r"));
  EXPECT_FALSE(scope.queues->list);
}

// "lrwdp": what may be done to the path; a capital letter: to all that is below it, too.
std::string allowed(const StorageGrant& grant, std::string_view path) {
  std::string out;
  for (int i = 0; i < 5; ++i) {
    auto action = static_cast<FileAction>(i);
    if (grant.allows_tree(action, path)) {
      out += "LRWDP"[i];
    } else if (grant.allows(action, path)) {
      out += "lrwdp"[i];
    }
  }
  return out;
}

struct PathRow {
  std::string_view grant;
  std::string_view path;
  std::string_view allowed;
};

TEST(StorageGrant, DecidesByPath) {
  const std::string_view nested =
      R"({"paths":[{"path":"open/locked","read_only":true},{"path":"/open/"}]})";
  const PathRow rows[] = {
      {"{}", "any/where", "LRWD"},
      {R"({"paths":[]})", "a", ""},
      {R"({"paths":[{"path":"open"}]})", "open", "LRWD"},
      {R"({"paths":[{"path":"open"}]})", "open/deep/er", "LRWD"},
      {R"({"paths":[{"path":"open"}]})", "openly", ""},
      {R"({"paths":[{"path":"open"}]})", "", ""},
      {R"({"paths":[{"path":"open","readOnly":true}]})", "open/a", "LR"},
      {nested, "open/a", "LRWD"},
      {nested, "open/locked/a", "LR"},
      {nested, "open", "LRwd"},
      {R"({"paths":[{"path":"a"},{"path":"a/b","read_only":true}]})", "a/b", "LRWD"},
      {R"({"paths":[{"path":"/"}]})", "a", "LRWD"},
      {R"({"files":{}})", "a", ""},
      {R"({"files":{"paths":[{"path":"a","actions":["read","presign"]}]}})", "a", "rp"},
      {R"({"files":{"paths":[{"path":"a","actions":["read"]}]}})", "a/b", ""},
      {R"({"files":{"paths":[{"path":"a","recursive":true,"actions":["read","list"]}]}})", "a/b",
       "LR"},
      {R"({"files":{"paths":[{"path":"a","recursive":true,"actions":["delete"],
          "excluded_paths":["a/b"]}]}})",
       "a", "d"},
      {R"({"files":{"paths":[{"path":"a","recursive":true,"actions":["delete"],
          "excluded_paths":["a/b"]}]}})",
       "a/b/c", ""},
      {R"({"paths":[{"path":"a"}],"files":{"paths":[{"path":"b","actions":["write","later"]}]}})",
       "a", ""},
  };
  for (const PathRow& row : rows) {
    auto grant = StorageGrant::parse(json::parse(row.grant).value().as_object());
    ASSERT_TRUE(grant) << row.grant;
    EXPECT_EQ(allowed(*grant, row.path), row.allowed) << row.grant << " " << row.path;
  }
}

TEST(StoragePath, IsRelativeAndPlain) {
  struct Row {
    std::string_view given;
    std::string_view path;
  };
  const Row rows[] = {{"", ""},      {".", ""},        {"/", ""},       {"./", ""},
                      {"a", "a"},    {"/a/b/", "a/b"}, {"./a", "a"},    {"a b/.c", "a b/.c"},
                      {"a//b", "-"}, {"..", "-"},      {"a/../b", "-"}, {"a/.", "-"},
                      {"//a", "-"},  {"a//", "-"},     {"a\\b", "-"},   {"a\nb", "-"}};
  for (const Row& row : rows) {
    EXPECT_EQ(storage_path(row.given).value_or("-"), row.path) << row.given;
  }
}

TEST(StorageGrant, AFolderIsListedForWhatIsBelowIt) {
  auto listed = [](std::string_view grant, std::string_view folder) {
    return StorageGrant::parse(json::parse(grant).value().as_object())
        .value()
        .allows_listing(folder);
  };
  EXPECT_TRUE(listed("{}", ""));
  EXPECT_TRUE(listed(R"({"paths":[{"path":"a/b"}]})", "a"));
  EXPECT_TRUE(listed(R"({"paths":[{"path":"a/b"}]})", ""));
  EXPECT_FALSE(listed(R"({"paths":[{"path":"a/b"}]})", "c"));
  EXPECT_TRUE(listed(R"({"files":{"paths":[{"path":"a/b","actions":["list"]}]}})", "a"));
  EXPECT_FALSE(listed(R"({"files":{"paths":[{"path":"a/b","actions":["read"]}]}})", "a"));
}

}  // namespace
}  // namespace errand::room::grants_test
