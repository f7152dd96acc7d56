#include "telemetry/trace_context.hpp"

#include <gtest/gtest.h>

namespace errand::trace_context_test {
namespace {

constexpr std::string_view kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContextTest, IsReadAndWrittenAsItWas) {
  auto context = parse_traceparent(kParent);
  ASSERT_TRUE(context);
  EXPECT_EQ(to_hex(context->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(to_hex(context->span), "00f067aa0ba902b7");
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(to_traceparent(*context), kParent);
}

TEST(TraceContextTest, KeepsTheWishNotToBeSampled) {
  auto context = parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02");
  ASSERT_TRUE(context);
  EXPECT_FALSE(context->is_sampled);
  EXPECT_TRUE(to_traceparent(*context).ends_with("-00"));
}

TEST(TraceContextTest, LaterVersionsMayHaveMoreFields) {
  EXPECT_TRUE(
      parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes"));
  EXPECT_FALSE(
      parse_traceparent("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.what-comes"));
}

TEST(TraceContextTest, MalformedTextIsNoContext) {
  for (std::string_view text : {
           "",
           "00",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
           "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
           "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
           "0g-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       }) {
    EXPECT_FALSE(parse_traceparent(text)) << text;
  }
}

}  // namespace
}  // namespace errand::trace_context_test
