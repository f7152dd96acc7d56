#include "net/server/outgoing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace errand::net::test::outgoing_test {
namespace {

constexpr std::size_t kBodyBytes = 1024U * 1024;

std::string left(const Outgoing& out) {
  std::string text;
  for (const asio::const_buffer& piece : out.next()) {
    text.append(static_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

TEST(Outgoing, FreesWhatHasBeenSentOnceThatIsMostOfIt) {
  std::string body(kBodyBytes, 'x');
  body.replace(kBodyBytes - 3, 3, "end");
  Outgoing out("head", std::move(body), "\r\n");
  out.advance(4 + kBodyBytes / 4);
  out.free_sent();
  EXPECT_GE(out.held(), kBodyBytes) << "most of it is left";
  out.advance(kBodyBytes - kBodyBytes / 4 - 5);
  out.free_sent();
  EXPECT_LT(out.held(), 100U);
  EXPECT_EQ(left(out), "xxend\r\n");
  out.advance(6);
  EXPECT_EQ(left(out), "\n");
}

TEST(Outgoing, WhatIsShortIsNotCopied) {
  Outgoing out(std::string(1000, 'h'), "body", {});
  const std::size_t held = out.held();
  out.advance(999);
  out.free_sent();
  EXPECT_EQ(out.held(), held);
  EXPECT_EQ(left(out), "hbody");
}

TEST(Outgoing, ALongBodyGoesOutInParts) {
  const std::size_t part = kBodyBytes / 4;
  Outgoing out("head", std::string(kBodyBytes, 'x'), "\r\n");
  EXPECT_EQ(asio::buffer_size(out.next()), part);
  out.advance(part);
  EXPECT_EQ(left(out), std::string(part, 'x'));
  out.advance(kBodyBytes - part);
  EXPECT_EQ(left(out), "xxxx\r\n");
}

}  // namespace
}  // namespace errand::net::test::outgoing_test
