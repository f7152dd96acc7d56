#include "json/schema/uri.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace errand::json::schema::uri_test {
namespace {

// "uri#fragment".
std::string resolved(std::string_view base, std::string_view reference) {
  auto target = resolve(base, reference);
  return target ? target->uri + "#" + target->fragment : "nothing";
}

TEST(SchemaUri, ResolvesTheExamplesOfRfc3986) {
  constexpr std::string_view kBase = "http://a/b/c/d;p?q";
  EXPECT_EQ(resolved(kBase, "g:h"), "g:h#");
  EXPECT_EQ(resolved(kBase, "g"), "http://a/b/c/g#");
  EXPECT_EQ(resolved(kBase, "./g/"), "http://a/b/c/g/#");
  EXPECT_EQ(resolved(kBase, "/g"), "http://a/g#");
  EXPECT_EQ(resolved(kBase, "//g"), "http://g#");
  EXPECT_EQ(resolved(kBase, "?y"), "http://a/b/c/d;p?y#");
  EXPECT_EQ(resolved(kBase, "g?y#s"), "http://a/b/c/g?y#s");
  EXPECT_EQ(resolved(kBase, "#s"), "http://a/b/c/d;p?q#s");
  EXPECT_EQ(resolved(kBase, ""), "http://a/b/c/d;p?q#");
  EXPECT_EQ(resolved(kBase, "."), "http://a/b/c/#");
  EXPECT_EQ(resolved(kBase, ".."), "http://a/b/#");
  EXPECT_EQ(resolved(kBase, "../../../g"), "http://a/g#");
  EXPECT_EQ(resolved(kBase, "g/./h/../i"), "http://a/b/c/g/i#");
}

TEST(SchemaUri, ABaseMayBeMissingRelativeOrAUrn) {
  EXPECT_EQ(resolved("", "#/a"), "#/a");
  EXPECT_EQ(resolved("", "a.json#x"), "a.json#x");
  EXPECT_EQ(resolved("a.json", "b.json"), "b.json#");
  EXPECT_EQ(resolved("folder/a.json", "b.json"), "folder/b.json#");
  EXPECT_EQ(resolved("http://a", "b"), "http://a/b#");
  EXPECT_EQ(resolved("urn:example:1", "#x"), "urn:example:1#x");
}

TEST(SchemaUri, FragmentsAreDecoded) {
  EXPECT_EQ(resolved("", "#/a%25b~1c"), "#/a%b~1c");
  EXPECT_EQ(resolved("", "#%zz"), "nothing");
}

}  // namespace
}  // namespace errand::json::schema::uri_test
