#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

constexpr std::string_view kOpened = "HTTP/1.1 200 OK\r\n\r\n";

// What a name leads to, by how often it was looked up before; the last answer stays.
class Names final {
 public:
  explicit Names(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}

  LookUp look_up() {
    return [this](const std::string&) {
      const std::size_t n = std::min(asked_++, addresses_.size() - 1);
      std::vector<Address> found;
      if (!addresses_[n].empty()) found.push_back(boost::asio::ip::make_address(addresses_[n]));
      return found;
    };
  }
  std::size_t asked() const { return asked_; }

 private:
  std::vector<std::string> addresses_;
  std::size_t asked_ = 0;
};

ClientOptions options_with(AddressRules rules) {
  ClientOptions options;
  options.addresses = std::move(rules);
  return options;
}

// A server of this machine that is allowed, under a name that leads elsewhere later.
TEST(ReboundName, ANameIsLookedUpOnceForARequestAndJudgedEachTime) {
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  Peer peer(std::vector<Peer::Script>{answers(last), answers(last)});
  Names names({"127.0.0.1", "169.254.169.254"});
  const std::vector<AddressPrefix> allowed = {AddressPrefix::parse("127.0.0.1").value()};
  Loop loop;
  auto client = std::make_unique<HttpClient>(
      options_with(AddressRules(allowed, ProxyNames::judged_here, names.look_up())));
  const std::string url = cat("http://rebound.test:", peer.port(), "/");

  EXPECT_EQ(loop.run(client->send({.url = url})).value().body, "ok");
  EXPECT_EQ(names.asked(), 1U);
  auto later = loop.run(client->send({.url = url}));

  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().reason(), "address_refused");
  EXPECT_EQ(peer.accepted(), 1);
  loop.call([&] { client.reset(); });
}

// The proxy is the operator's, at whatever address; what it is asked for is the stranger's.
class ProxiedAddressTest : public testing::Test {
 protected:
  ~ProxiedAddressTest() override {
    loop_.call([this] { client_.reset(); });
  }
  void use(const Peer& proxy, AddressRules rules) {
    auto environment = [&](const std::string& name) -> std::optional<std::string> {
      if (name == "http_proxy") return cat("http://127.0.0.1:", proxy.port());
      return {};
    };
    ClientOptions options = ClientOptions::from(environment);
    options.addresses = std::move(rules);
    loop_.call([this] { client_.reset(); });
    client_ = std::make_unique<HttpClient>(std::move(options));
  }
  Result<ClientResponse> get(const std::string& url) {
    return loop_.run(client_->send({.url = url}));
  }
  std::string refusal(const std::string& url) {
    auto response = get(url);
    return response ? "none" : response.error().reason();
  }

  Loop loop_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(ProxiedAddressTest, AnAddressIsCheckedBeforeTheProxyHearsOfIt) {
  Peer proxy(answers(kOk));
  use(proxy, AddressRules());
  for (std::string host : {"10.0.0.1", "169.254.169.254", "0xa.1", "[fd00::1]"}) {
    EXPECT_EQ(refusal(cat("http://", host, "/")), "address_refused") << host;
  }
  EXPECT_EQ(proxy.accepted(), 0);
}

TEST_F(ProxiedAddressTest, TheProxyIsAskedForTheAddressThatWasJudgedWhateverTheNameLeadsToThen) {
  std::string tunnel;
  std::string head;
  Peer proxy([&](PeerConnection& connection) {
    tunnel = connection.receive_head();
    connection.send(kOpened);
    head = connection.receive_head();
    connection.send(kOk);
  });
  Names names({"93.184.216.34", "169.254.169.254"});
  use(proxy, AddressRules({}, ProxyNames::judged_here, names.look_up()));

  EXPECT_EQ(get("http://rebound.test/p").value().body, "ok");

  proxy.wait_for_ended(1);
  EXPECT_EQ(tunnel, "CONNECT 93.184.216.34:80 HTTP/1.1\r\nHost: 93.184.216.34:80\r\n\r\n");
  EXPECT_EQ(head,
            "GET /p HTTP/1.1\r\nHost: rebound.test\r\nAccept-Encoding: gzip, deflate\r\n\r\n");
  EXPECT_EQ(names.asked(), 1U);
}

TEST_F(ProxiedAddressTest, ANameIsCheckedBeforeTheProxyHearsOfIt) {
  Peer proxy(answers(kOk));
  Names names({"10.0.0.1"});
  use(proxy, AddressRules({}, ProxyNames::judged_here, names.look_up()));
  EXPECT_EQ(refusal("http://inside.test/"), "address_refused");
  use(proxy, AddressRules({}, ProxyNames::left_to_proxy, names.look_up()));
  EXPECT_EQ(refusal("http://inside.test/"), "address_refused");
  EXPECT_EQ(proxy.accepted(), 0);
}

TEST_F(ProxiedAddressTest, ANameThatIsUnknownHereIsPassedOnOnlyIfNamesAreLeftToTheProxy) {
  std::string head;
  Peer proxy([&](PeerConnection& connection) {
    head = connection.receive_head();
    connection.send(kOk);
  });
  Names names({""});
  use(proxy, AddressRules({}, ProxyNames::judged_here, names.look_up()));
  EXPECT_EQ(refusal("http://outside.test/"), "lookup_failed");
  EXPECT_EQ(proxy.accepted(), 0);
  use(proxy, AddressRules({}, ProxyNames::left_to_proxy, names.look_up()));

  EXPECT_EQ(get("http://outside.test/").value().body, "ok");

  proxy.wait_for_ended(1);
  EXPECT_TRUE(head.starts_with("GET http://outside.test/ HTTP/1.1\r\n")) << head;
}

}  // namespace
}  // namespace errand::net::test::client_address_test
