#include <gtest/gtest.h>
#include <netdb.h>
#include <unistd.h>

#include <string>

#include "net/address_rules.hpp"
#include "net/client/test_peer.hpp"

namespace errand::net::test::client_address_test {
namespace {

// A client that may reach public addresses only.
class ClientAddressTest : public ClientTest {
 protected:
  ClientAddressTest() : ClientTest({.addresses = AddressRules()}) {}

  static std::string refused(std::string_view host, std::uint16_t port, std::string_view address) {
    return cat("forbidden address_refused: ", host, ":", port, " is at ", address,
               ", which is not a public address");
  }
};

TEST_F(ClientAddressTest, AnAddressThatIsNotAllowedIsNotConnectedTo) {
  Peer peer(answers(kOk));
  EXPECT_EQ(shown_error(get(peer.url()).error()), refused("127.0.0.1", peer.port(), "127.0.0.1"));
  EXPECT_EQ(peer.accepted(), 0);
}

TEST_F(ClientAddressTest, ANameIsJudgedByTheAddressItLeadsTo) {
  Peer peer(answers(kOk));
  auto response = get(cat("http://localhost:", peer.port(), "/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().reason(), "address_refused");
  EXPECT_EQ(peer.accepted(), 0);
}

TEST_F(ClientAddressTest, OldFormsOfAnAddressAreNoWayAround) {
  Peer peer(answers(kOk));
  for (std::string host : {"127.1", "2130706433", "0x7f.0.0.1"}) {
    auto response = get(cat("http://", host, ":", peer.port(), "/"));
    ASSERT_FALSE(response);
    EXPECT_EQ(shown_error(response.error()), refused(host, peer.port(), "127.0.0.1"));
  }
  EXPECT_EQ(shown_error(get(cat("http://[::ffff:127.0.0.1]:", peer.port(), "/")).error()),
            refused("[::ffff:127.0.0.1]", peer.port(), "::ffff:127.0.0.1"));
  EXPECT_EQ(peer.accepted(), 0);
}

class AllowedAddressTest : public ClientTest {
 protected:
  AllowedAddressTest() : ClientTest({.addresses = AddressRules::parse({"127.0.0.0/8"}).value()}) {}
};

TEST_F(AllowedAddressTest, ANetworkThatIsAllowedIsReached) {
  Peer peer(answers(kOk));
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
}

TEST_F(AllowedAddressTest, ARedirectCanBeReadAsAnAnswer) {
  Peer peer(answers("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"));
  auto response = send({.url = peer.url(), .redirects = Redirects::shown});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(find_header(response->headers, "location"), "/there");
}

// The proxy is the operator's, at whatever address; what it is asked for is the stranger's.
TEST(ProxiedAddress, AnAddressIsCheckedBeforeTheProxyHearsOfIt) {
  Peer proxy(answers(kOk));
  Loop loop;
  auto environment = [&](const std::string& name) -> std::optional<std::string> {
    if (name == "http_proxy") return cat("http://127.0.0.1:", proxy.port());
    return {};
  };
  ClientOptions options = ClientOptions::from(environment);
  options.addresses = AddressRules();
  auto client = std::make_unique<HttpClient>(std::move(options));
  for (std::string host : {"10.0.0.1", "169.254.169.254", "0xa.1", "[fd00::1]"}) {
    auto response = loop.run(client->send({.url = cat("http://", host, "/")}));
    ASSERT_FALSE(response) << host;
    EXPECT_EQ(response.error().reason(), "address_refused") << host;
  }
  EXPECT_EQ(proxy.accepted(), 0);
  // No look-up here can find a name of such a length, and none leaves the machine for it.
  auto unknown = loop.run(client->send({.url = cat("http://", std::string(64, 'a'), ".example/")}));
  EXPECT_EQ(unknown.value().body, "ok");
  loop.call([&] { client.reset(); });
}

TEST(ProxiedAddress, ANameIsCheckedBeforeTheProxyHearsOfIt) {
  char name[256] = {};
  ASSERT_EQ(::gethostname(name, sizeof name - 1), 0);
  addrinfo* found = nullptr;
  if (::getaddrinfo(name, nullptr, nullptr, &found) != 0) GTEST_SKIP() << name << " has no address";
  ::freeaddrinfo(found);
  Peer proxy(answers(kOk));
  Loop loop;
  auto environment = [&](const std::string& variable) -> std::optional<std::string> {
    if (variable == "http_proxy") return cat("http://127.0.0.1:", proxy.port());
    return {};
  };
  ClientOptions options = ClientOptions::from(environment);
  options.addresses = AddressRules();
  auto client = std::make_unique<HttpClient>(std::move(options));
  auto response = loop.run(client->send({.url = cat("http://", name, "/")}));
  ASSERT_FALSE(response) << name;
  EXPECT_EQ(response.error().reason(), "address_refused") << name;
  EXPECT_EQ(proxy.accepted(), 0);
  loop.call([&] { client.reset(); });
}

}  // namespace
}  // namespace errand::net::test::client_address_test
