#include "net/client/proxy.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/text.hpp"

namespace errand::net::proxy_test {
namespace {

using Variables = std::map<std::string, std::string>;

ProxyRules rules_of(const Variables& variables) {
  return ProxyRules::from([&](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  });
}

// "host:port", "host:port authorization", "direct", or the code of the error.
std::string proxy_for(std::string_view url, const Variables& variables) {
  auto proxy = rules_of(variables).proxy_for(parse_url(url).value());
  if (!proxy) return std::string(to_string(proxy.error().code()));
  if (!*proxy) return "direct";
  const Proxy& found = **proxy;
  std::string out = cat(found.host, ":", found.port);
  if (!found.authorization.empty()) append(out, " ", found.authorization);
  return out;
}

std::string with_exceptions(std::string_view url, std::string no_proxy) {
  return proxy_for(url, {{"ALL_PROXY", "http://p:1"}, {"NO_PROXY", std::move(no_proxy)}});
}

TEST(ProxyRules, EachSchemeHasItsVariable) {
  Variables both = {{"HTTP_PROXY", "http://a:1"}, {"HTTPS_PROXY", "http://b:2"}};
  EXPECT_EQ(proxy_for("http://h/", both), "a:1");
  EXPECT_EQ(proxy_for("https://h/", both), "b:2");
  EXPECT_EQ(proxy_for("https://h/", {{"HTTP_PROXY", "http://a:1"}}), "direct");
  EXPECT_EQ(proxy_for("http://h/", {}), "direct");
}

TEST(ProxyRules, LowerCaseComesFirstAndAllComesLast) {
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "a:1"}, {"HTTP_PROXY", "b:1"}}), "a:1");
  EXPECT_EQ(proxy_for("http://h/", {{"HTTP_PROXY", "b:1"}, {"all_proxy", "c:1"}}), "b:1");
  EXPECT_EQ(proxy_for("https://h/", {{"HTTPS_PROXY", ""}, {"ALL_PROXY", "c:1"}}), "c:1");
}

TEST(ProxyRules, ReadsTheUrlOfTheProxy) {
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://p"}}), "p:80");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://p:8080/"}}), "p:8080");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://[::1]:8080"}}), "::1:8080");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://Aladdin:open%20sesame@p:1"}}),
            "p:1 Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://u:a@b@p:1"}}), "p:1 Basic dTphQGI=");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://us@p:1"}}), "p:1 Basic dXM6");
}

TEST(ProxyRules, RefusesWhatIsNoProxyWithoutShowingIt) {
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "socks5://p:1"}}), "unsupported");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "https://p:1"}}), "unsupported");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://p:x"}}), "invalid_argument");
  EXPECT_EQ(proxy_for("http://h/", {{"http_proxy", "http://u:%zz@p:1"}}), "invalid_argument");
  auto refused =
      rules_of({{"http_proxy", "http://u:secret@:1"}}).proxy_for(parse_url("http://h/").value());
  EXPECT_EQ(refused.error().message(),
            "the environment variable http_proxy does not hold the URL of a proxy");
}

TEST(ProxyRules, ThisMachineIsReachedDirectly) {
  for (const char* url :
       {"http://localhost:8080/", "http://LOCALHOST/", "http://localhost.:80/",
        "http://api.localhost/", "http://127.0.0.1/", "https://127.9.9.9/", "http://[::1]:80/"}) {
    EXPECT_EQ(proxy_for(url, {{"ALL_PROXY", "http://p:1"}}), "direct") << url;
  }
}

TEST(ProxyRules, ExceptionsAreHostsWithAllBelowThem) {
  EXPECT_EQ(with_exceptions("http://example.com/", "example.com"), "direct");
  EXPECT_EQ(with_exceptions("http://api.EXAMPLE.com/", "example.com"), "direct");
  EXPECT_EQ(with_exceptions("http://api.example.com/", ".example.com"), "direct");
  EXPECT_EQ(with_exceptions("http://example.com/", ".example.com"), "direct");
  EXPECT_EQ(with_exceptions("http://api.example.com/", "*.example.com"), "direct");
  EXPECT_EQ(with_exceptions("http://notexample.com/", "example.com"), "p:1");
  EXPECT_EQ(with_exceptions("http://example.com.evil.org/", "example.com"), "p:1");
  EXPECT_EQ(with_exceptions("http://example.com/", "."), "p:1");
}

TEST(ProxyRules, ExceptionsAreAListAndMayHavePorts) {
  EXPECT_EQ(with_exceptions("http://b/", "a, b ,c"), "direct");
  EXPECT_EQ(with_exceptions("http://c/", "a b\tc"), "direct");
  EXPECT_EQ(with_exceptions("http://d/", "a,,b"), "p:1");
  EXPECT_EQ(with_exceptions("http://h:8080/", "h:8080"), "direct");
  EXPECT_EQ(with_exceptions("http://h/", "h:8080"), "p:1");
  EXPECT_EQ(with_exceptions("https://h/", "h:443"), "direct");
  EXPECT_EQ(with_exceptions("http://h/", "*"), "direct");
  EXPECT_EQ(with_exceptions("http://h/", "x,*"), "direct");
}

TEST(ProxyRules, ExceptionsAreAddressesAndNetworks) {
  EXPECT_EQ(with_exceptions("http://10.1.2.3/", "10.1.2.3"), "direct");
  EXPECT_EQ(with_exceptions("http://10.1.2.3/", "1.2.3"), "p:1");
  EXPECT_EQ(with_exceptions("http://10.1.2.3:81/", "10.1.2.3:80"), "p:1");
  EXPECT_EQ(with_exceptions("http://10.1.2.3/", "10.0.0.0/8"), "direct");
  EXPECT_EQ(with_exceptions("http://11.1.2.3/", "10.0.0.0/8"), "p:1");
  EXPECT_EQ(with_exceptions("http://10.0.1.128/", "10.0.1.0/25"), "p:1");
  EXPECT_EQ(with_exceptions("http://10.0.1.127/", "10.0.1.0/25"), "direct");
  EXPECT_EQ(with_exceptions("http://1.2.3.4/", "0.0.0.0/0"), "direct");
  EXPECT_EQ(with_exceptions("http://[fd00::1]/", "fd00::/8"), "direct");
  EXPECT_EQ(with_exceptions("http://[fd00::1]/", "fd00:0::1"), "direct");
  EXPECT_EQ(with_exceptions("http://[fd00::1]:81/", "[fd00::1]:81"), "direct");
  EXPECT_EQ(with_exceptions("http://1.2.3.4/", "1.2.3.4/33"), "p:1");
  EXPECT_EQ(with_exceptions("http://h/", "10.0.0.0/8"), "p:1");
}

}  // namespace
}  // namespace errand::net::proxy_test
