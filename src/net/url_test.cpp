#include "net/url.hpp"

#include <gtest/gtest.h>

namespace errand::net::url_test {
namespace {

// The examples of RFC 3986, section 5.4, on its base without ";p".
std::string resolved(std::string_view reference) {
  return resolve_url(parse_url("http://a/b/c/d?q").value(), reference).value_or("none");
}

TEST(ResolveUrl, KnowsEveryKindOfReference) {
  EXPECT_EQ(resolved("g"), "http://a/b/c/g");
  EXPECT_EQ(resolved("./g"), "http://a/b/c/g");
  EXPECT_EQ(resolved("g/"), "http://a/b/c/g/");
  EXPECT_EQ(resolved("/g"), "http://a/g");
  EXPECT_EQ(resolved("//g"), "http://g");
  EXPECT_EQ(resolved("//g/x?y"), "http://g/x?y");
  EXPECT_EQ(resolved("?y"), "http://a/b/c/d?y");
  EXPECT_EQ(resolved("g?y"), "http://a/b/c/g?y");
  EXPECT_EQ(resolved("#s"), "http://a/b/c/d?q#s");
  EXPECT_EQ(resolved("g#s"), "http://a/b/c/g#s");
  EXPECT_EQ(resolved(""), "http://a/b/c/d?q");
  EXPECT_EQ(resolved("https://x/y"), "https://x/y");
  EXPECT_EQ(resolved("HTTP://x/y"), "http://x/y");
  EXPECT_EQ(resolved("httpS://[::1]:80/"), "https://[::1]:80/");
}

TEST(ResolveUrl, DotsGoUpButNeverAboveTheRoot) {
  EXPECT_EQ(resolved("."), "http://a/b/c/");
  EXPECT_EQ(resolved(".."), "http://a/b/");
  EXPECT_EQ(resolved("../g"), "http://a/b/g");
  EXPECT_EQ(resolved("../../g"), "http://a/g");
  EXPECT_EQ(resolved("../../../g"), "http://a/g");
  EXPECT_EQ(resolved("/./g"), "http://a/g");
  EXPECT_EQ(resolved("g."), "http://a/b/c/g.");
  EXPECT_EQ(resolved("..g"), "http://a/b/c/..g");
  EXPECT_EQ(resolved("./g/."), "http://a/b/c/g/");
  EXPECT_EQ(resolved("g/../h"), "http://a/b/c/h");
  EXPECT_EQ(resolved("g?y/../x"), "http://a/b/c/g?y/../x");
  EXPECT_EQ(resolved("a:80/x"), "none");
  EXPECT_EQ(resolved("./a:80/x"), "http://a/b/c/a:80/x");
}

TEST(ResolveUrl, WhatAUrlCannotHoldIsEscaped) {
  EXPECT_EQ(resolved("  caf\xC3\xA9 au\nlait.html "), "http://a/b/c/caf%C3%A9%20aulait.html");
  EXPECT_EQ(resolved("x?a=\"<>\""), "http://a/b/c/x?a=%22%3C%3E%22");
  EXPECT_EQ(resolved("50%25"), "http://a/b/c/50%25");
}

TEST(ResolveUrl, OtherSchemesLeadNowhere) {
  for (std::string_view reference :
       {"javascript:alert(1)", "data:text/html,x", "mailto:a@b", "file:///x", "http:x"}) {
    EXPECT_EQ(resolved(reference), "none") << reference;
  }
}

TEST(WithQuery, ValuesAreEscaped) {
  EXPECT_EQ(with_query("/a", {}), "/a");
  EXPECT_EQ(with_query("/a", {{"limit", "1"}, {"metadata", "k:v w"}}),
            "/a?limit=1&metadata=k%3Av%20w");
}

TEST(WithoutTrailingSlashes, OnlyThoseAtTheEndGo) {
  EXPECT_EQ(without_trailing_slashes("http://a/b//"), "http://a/b");
  EXPECT_EQ(without_trailing_slashes(""), "");
}

TEST(ResolveUrl, ABaseWithoutAPathIsItsRoot) {
  EXPECT_EQ(resolve_url(parse_url("https://host:8443").value(), "x"), "https://host:8443/x");
}

}  // namespace
}  // namespace errand::net::url_test
