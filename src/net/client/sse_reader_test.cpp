#include "net/client/sse_reader.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "support/held_pool.hpp"
#include "support/run_task.hpp"

namespace errand::net::sse_reader_test {
namespace {

using Events = std::vector<SseEvent>;
using namespace std::string_view_literals;

void read_into(SseReader& reader, std::string_view bytes, Events& events) {
  auto more = reader.feed(bytes);
  for (SseEvent& event : more.value()) events.push_back(std::move(event));
}

// Expects these events however the bytes are split in two, and when they come one by one.
void expect_events(std::string_view bytes, const Events& expected) {
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    SseReader reader;
    Events events;
    read_into(reader, bytes.substr(0, split), events);
    read_into(reader, bytes.substr(split), events);
    ASSERT_EQ(events, expected) << "split at " << split;
  }
  SseReader reader;
  Events events;
  for (char c : bytes) read_into(reader, {&c, 1}, events);
  EXPECT_EQ(events, expected) << "byte by byte";
}

SseEvent message(std::string data) {
  return {.type = "message", .data = std::move(data), .id = ""};
}

TEST(SseReader, DropsOneLeadingByteOrderMark) {
  expect_events(
      "\xEF\xBB\xBF"
      "data: a\n\n",
      {message("a")});
  expect_events(
      "\xEF\xBB\xBF\xEF\xBB\xBF"
      "data: a\n\ndata: b\n\n",
      {message("b")});
  expect_events(
      "data: a\n\n\xEF\xBB\xBF"
      "data: b\n\n",
      {message("a")});
}

TEST(SseReader, TakesEveryKindOfLineEnd) {
  expect_events("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\r\n\ndata: e\n\r\n",
                {message("a"), message("b"), message("c"), message("d"), message("e")});
}

TEST(SseReader, ALineFeedAfterACarriageReturnIsNoSecondLineEnd) {
  expect_events("data: a\r\ndata: b\r\n\r\n", {message("a\nb")});
}

TEST(SseReader, ReadsOverComments) {
  expect_events(": hello\n\ndata: a\n: inside\n:\ndata: b\n\n", {message("a\nb")});
}

TEST(SseReader, JoinsDataLines) {
  expect_events("data: a\ndata: b\ndata:\n\n", {message("a\nb\n")});
}

TEST(SseReader, DropsExactlyOneSpace) {
  expect_events("data:a\n\ndata:  b\n\ndata: a:b: c\n\n",
                {message("a"), message(" b"), message("a:b: c")});
}

TEST(SseReader, DeliversEmptyData) {
  expect_events("data: \n\ndata:\n\ndata\n\n", {message(""), message(""), message("")});
}

TEST(SseReader, AnEventWithoutDataIsNotDeliveredAndItsTypeIsForgotten) {
  expect_events("event: x\n\ndata: a\n\nevent: y\ndata: b\n\n",
                {message("a"), {.type = "y", .data = "b", .id = ""}});
}

TEST(SseReader, TheLastIdStaysUntilItIsReplaced) {
  expect_events("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: x\0y\ndata: d\n\n"sv,
                {{.type = "message", .data = "a", .id = "1"},
                 {.type = "message", .data = "b", .id = "1"},
                 message("c"),
                 message("d")});
}

TEST(SseReader, AnIdCountsOnceItsEventIsComplete) {
  SseReader reader;
  ASSERT_TRUE(reader.feed("id: 1\n\nid: 2\ndata: a\n"));
  EXPECT_EQ(reader.last_id(), "1");
  ASSERT_TRUE(reader.feed("\n"));
  EXPECT_EQ(reader.last_id(), "2");
}

TEST(SseReader, RetryTakesDigitsOnly) {
  SseReader reader;
  ASSERT_TRUE(reader.feed("retry: 12x\nretry: -1\nretry: 99999999999\nretry\n"));
  EXPECT_EQ(reader.retry_millis(), std::nullopt);
  ASSERT_TRUE(reader.feed("retry: 1500\n"));
  EXPECT_EQ(reader.retry_millis(), 1500);
}

TEST(SseReader, FieldNamesAreCaseSensitiveAndUnknownOnesIgnored) {
  expect_events("DATA: a\nfoo: b\n data: c\ndata: d\n\n", {message("d")});
}

TEST(SseReader, AnUnfinishedEventIsNotDelivered) {
  expect_events("data: a\n\ndata: b\n", {message("a")});
  expect_events("data: a\n\ndata: b", {message("a")});
}

TEST(SseReader, KeepsUtf8AndReplacesWhatIsNot) {
  expect_events("data: \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n\n",
                {message("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")});
  expect_events(
      "data: a\xFF"
      "b\xE2\x82\n\ndata: \xC0\xAF\n\ndata: \xED\xA0\x80\n\n",
      {message("a\xEF\xBF\xBD"
               "b\xEF\xBF\xBD"),
       message("\xEF\xBF\xBD\xEF\xBF\xBD"), message("\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")});
}

TEST(SseReader, AnEventHasALargestSize) {
  SseReader reader;
  std::string line = "data: " + std::string(1U << 20U, 'x') + "\n";
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(reader.feed(line));
  auto failed = reader.feed(line + line);
  EXPECT_EQ(failed.error().code(), ErrorCode::too_large);
  EXPECT_EQ(failed.error().max(), static_cast<std::int64_t>(SseReader::kEventBytesMax));

  SseReader endless;
  std::string piece(1U << 20U, 'x');
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(endless.feed(piece));
  EXPECT_EQ(endless.feed(piece).error().code(), ErrorCode::too_large);
}

Task<void> read_aside(std::shared_ptr<SseReader> reader, std::string bytes, BlockingPool* pool,
                      Events* events) {
  auto more = co_await feed_aside(std::move(reader), std::move(bytes), pool);
  *events = std::move(more).value();
}

TEST(SseReader, OnlyALongEventIsReadOnThePool) {
  asio::io_context io(1);
  HeldPool pool;
  auto reader = std::make_shared<SseReader>();
  const std::string text(kBytesInABreath, 'x');
  Events events;
  auto feed = [&](std::string bytes) {
    asio::co_spawn(io, read_aside(reader, std::move(bytes), pool.get(), &events), asio::detached);
    run_ready(io);
  };
  feed("data: short\n\n");
  EXPECT_EQ(events, Events{message("short")});
  events.clear();
  feed(cat("data: ", text, "\n\n"));
  EXPECT_EQ(events, Events());

  pool.finish();
  run_ready(io);
  EXPECT_EQ(events, Events{message(text)});
}

}  // namespace
}  // namespace errand::net::sse_reader_test
