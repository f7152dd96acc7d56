#include "net/address_rules.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace errand::net::address_rules_test {
namespace {

Address address(std::string_view text) {
  return boost::asio::ip::make_address(std::string(text));
}

TEST(IsPublic, AddressesOfTheInternetAre) {
  for (std::string_view text :
       {"1.1.1.1",         "8.8.8.8",         "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",     "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0",     "172.15.255.255",  "172.32.0.0",
        "192.0.1.0",       "192.167.255.255", "192.169.0.0",     "198.17.255.255",
        "198.20.0.0",      "223.255.255.255", "2606:4700::1111", "2001:4860::8888",
        "2001:200::",      "2a00::1",         "::ffff:8.8.8.8",  "64:ff9b::8.8.8.8",
        "2002:808:808::1"}) {
    EXPECT_TRUE(is_public(address(text))) << text;
  }
}

TEST(IsPublic, AddressesOfThisMachineOfPrivateNetworksAndOfNobodyAreNot) {
  for (std::string_view text : {"0.0.0.0",
                                "0.255.255.255",
                                "10.0.0.0",
                                "10.255.255.255",
                                "100.64.0.0",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.255",
                                "169.254.0.0",
                                "169.254.169.254",
                                "172.16.0.0",
                                "172.31.255.255",
                                "192.0.0.1",
                                "192.0.2.1",
                                "192.88.99.1",
                                "192.168.0.0",
                                "192.168.255.255",
                                "198.18.0.0",
                                "198.19.255.255",
                                "198.51.100.1",
                                "203.0.113.1",
                                "224.0.0.1",
                                "239.255.255.255",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::7f00:1",
                                "::8.8.8.8",
                                "fc00::1",
                                "fd00::1",
                                "fe80::1",
                                "fec0::1",
                                "ff02::1",
                                "100::1",
                                "2001:db8::1",
                                "2001::1",
                                "3fff::1",
                                "5f00::1",
                                "64:ff9b:1::1"}) {
    EXPECT_FALSE(is_public(address(text))) << text;
  }
}

TEST(IsPublic, AnAddressWithinAnotherCountsAsItself) {
  for (std::string_view text :
       {"::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2002:c0a8:101::1"}) {
    EXPECT_FALSE(is_public(address(text))) << text;
  }
}

TEST(AddressRules, NetworksCanBeAllowedByName) {
  auto rules = AddressRules::parse({"127.0.0.0/8", "10.1.0.0/16", "192.168.7.9", "fd00::/8"});
  ASSERT_TRUE(rules);
  for (std::string_view text : {"8.8.8.8", "127.0.0.1", "127.9.9.9", "10.1.255.255", "192.168.7.9",
                                "fd12::1", "::ffff:127.0.0.1", "64:ff9b::10.1.0.1"}) {
    EXPECT_TRUE(rules->is_allowed(address(text))) << text;
  }
  for (std::string_view text : {"10.2.0.0", "10.0.255.255", "192.168.7.8", "::1", "fc00::1",
                                "0.0.0.0", "::ffff:10.2.0.1"}) {
    EXPECT_FALSE(rules->is_allowed(address(text))) << text;
  }
}

TEST(AddressRules, WithoutNetworksOnlyPublicAddressesAreAllowed) {
  AddressRules rules;
  EXPECT_TRUE(rules.is_allowed(address("1.1.1.1")));
  EXPECT_FALSE(rules.is_allowed(address("127.0.0.1")));
}

TEST(AddressRules, AMappedNetworkAllowsMappedAddresses) {
  auto rules = AddressRules::parse({"::ffff:127.0.0.0/104"});
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->is_allowed(address("::ffff:127.0.0.1")));
  EXPECT_FALSE(rules->is_allowed(address("127.0.0.1")));
}

TEST(AddressRules, EverythingCanBeAllowed) {
  auto rules = AddressRules::parse({"0.0.0.0/0", "::/0"});
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->is_allowed(address("10.0.0.1")));
  EXPECT_TRUE(rules->is_allowed(address("::1")));
}

TEST(AddressRules, WhatIsNoNetworkIsRefusedByName) {
  for (std::string text : {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8",
                           "::/129", "10.0.0.0/8/8", "10.0.0.0/8 ", "localhost", "10.0.0.0/+8"}) {
    auto rules = AddressRules::parse({"127.0.0.0/8", text});
    ASSERT_FALSE(rules) << text;
    EXPECT_EQ(rules.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(rules.error().message(), "\"" + text + "\" is not a network");
  }
}

TEST(Localhost, IsKnownByItsLastLabel) {
  for (std::string_view name : {"localhost", "LocalHost", "localhost.", "api.localhost."}) {
    EXPECT_TRUE(is_localhost(name)) << name;
  }
  for (std::string_view name : {"", ".", "localhost.example", "notlocalhost", "localhos"}) {
    EXPECT_FALSE(is_localhost(name)) << name;
  }
}

TEST(LiteralAddress, KnowsEveryFormThatNeedsNoLookUp) {
  for (std::string text :
       {"127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "0x7f000001"}) {
    EXPECT_EQ(literal_address(text), address("127.0.0.1")) << text;
  }
  EXPECT_EQ(literal_address("::1"), address("::1"));
  for (std::string text : {"example.com", "127.0.0.1.example.com", "", "face.book"}) {
    EXPECT_EQ(literal_address(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace errand::net::address_rules_test
