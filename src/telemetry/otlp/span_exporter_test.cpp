#include "telemetry/otlp/span_exporter.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "net/server/test_support.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"
#include "telemetry/otlp/otlp_json.hpp"

namespace errand::otlp::span_exporter_test {
namespace {

Span span_named(std::string name) {
  return {.context =
              parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").value(),
          .name = std::move(name),
          .begun = from_millis(1000),
          .ended = from_millis(1250)};
}

TEST(OtlpJsonTest, ASpanIsWrittenAsCollectorsReadIt) {
  Span span = span_named("chat fast");
  span.parent = SpanId{0, 0, 0, 0, 0, 0, 0, 1};
  span.kind = SpanKind::client;
  span.attributes = {{"text", "a"},
                     {"big", std::int64_t{9007199254740993}},
                     {"share", 0.5},
                     {"is", true},
                     {"reasons", std::vector<std::string>{"stop"}}};
  span.error = "overloaded";
  auto body = json::parse(traces_body(std::vector{span}, "errand")).value();
  const json::Value& written = body.at_pointer("/resourceSpans/0/scopeSpans/0/spans/0");
  EXPECT_EQ(written, json::parse(R"({
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7",
    "parentSpanId": "0000000000000001", "name": "chat fast", "kind": 3,
    "startTimeUnixNano": "1000000000", "endTimeUnixNano": "1250000000",
    "attributes": [
      {"key": "text", "value": {"stringValue": "a"}},
      {"key": "big", "value": {"intValue": "9007199254740993"}},
      {"key": "share", "value": {"doubleValue": 0.5}},
      {"key": "is", "value": {"boolValue": true}},
      {"key": "reasons", "value": {"arrayValue": {"values": [{"stringValue": "stop"}]}}}],
    "status": {"code": 2, "message": "overloaded"}})")
                         .value());
  EXPECT_EQ(body.at_pointer("/resourceSpans/0/resource/attributes/0/value/stringValue"), "errand");
}

TEST(OtlpJsonTest, LongTextsAreCut) {
  Span span = span_named("a");
  span.attributes = {{"text", std::string(kAttributeBytesMax + 1, 'x')}};
  auto body = json::parse(traces_body(std::vector{span}, "errand")).value();
  const json::Value& text =
      body.at_pointer("/resourceSpans/0/scopeSpans/0/spans/0/attributes/0/value/stringValue");
  EXPECT_EQ(text.as_string().size(), kAttributeBytesMax);
}

// A collector that answers as its script says, and with 200 after that.
class SpanExporterTest : public testing::Test {
 protected:
  void answer_with(std::deque<net::Response> answers) { answers_ = std::move(answers); }

  void end_spans(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) exporter_.end(span_named(cat("span ", i)));
  }
  // Lets pauses pass at once until all spans are settled.
  void settle(std::uint64_t spans) {
    run_until(io_, [&] {
      timers_.fire_next();
      return exporter_.counts().sent + exporter_.counts().dropped >= spans;
    });
    run_task(io_, exporter_.stop());
  }

  static Task<net::Response> answer(SpanExporterTest* self, std::string body) {
    const std::lock_guard lock(self->mutex_);
    self->bodies_.push_back(std::move(body));
    if (self->answers_.empty()) co_return net::Response{.body = "{}"};
    net::Response next = std::move(self->answers_.front());
    self->answers_.pop_front();
    co_return next;
  }

  static std::size_t spans_in(const std::string& body) {
    return json::parse(body)
        .value()
        .at_pointer("/resourceSpans/0/scopeSpans/0/spans")
        .as_array()
        .size();
  }

  ManualClock clock_{0};
  Descriptor nowhere_{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  Log log_{clock_, nowhere_.get(), LogFormat::text};
  std::mutex mutex_;
  std::deque<net::Response> answers_;
  std::vector<std::string> bodies_;
  asio::io_context io_{1};
  ManualTimers timers_;
  net::HttpClient client_;
  net::test::TestServer server_{
      [this](const net::Request& request) { return answer(this, request.body); }};
  SpanExporter exporter_{
      {.home = io_.get_executor(), .http = client_, .timers = timers_, .log = log_},
      cat("http://127.0.0.1:", server_.port(), "/")};
};

TEST_F(SpanExporterTest, SpansAreSentInBatches) {
  end_spans(SpanExporter::kBatchSpansMax + 1);
  settle(SpanExporter::kBatchSpansMax + 1);
  EXPECT_EQ(exporter_.counts().sent, SpanExporter::kBatchSpansMax + 1);
  ASSERT_EQ(bodies_.size(), 2U);
  EXPECT_EQ(spans_in(bodies_[0]), SpanExporter::kBatchSpansMax);
  EXPECT_EQ(spans_in(bodies_[1]), 1U);
}

TEST_F(SpanExporterTest, ACollectorThatIsBusyIsAskedAgain) {
  std::deque<net::Response> answers;
  answers.push_back({.status = 503});
  answers.push_back({.status = 429, .headers = {{"retry-after", "7"}}});
  answer_with(std::move(answers));
  end_spans(1);
  settle(1);
  EXPECT_EQ(exporter_.counts().sent, 1U);
  EXPECT_EQ(bodies_.size(), 3U);
}

TEST_F(SpanExporterTest, SpansThatTheCollectorRefusesAreDroppedAndCounted) {
  std::deque<net::Response> answers;
  answers.push_back({.status = 400});
  answer_with(std::move(answers));
  end_spans(2);
  settle(2);
  EXPECT_EQ(exporter_.counts().dropped, 2U);
  EXPECT_EQ(bodies_.size(), 1U);
}

TEST_F(SpanExporterTest, SpansAreDroppedOnceTooManyWait) {
  end_spans(SpanExporter::kSpansWaitingMax + 5);
  EXPECT_EQ(exporter_.counts().dropped, 5U);
  settle(SpanExporter::kSpansWaitingMax + 5);
  EXPECT_EQ(exporter_.counts().sent, SpanExporter::kSpansWaitingMax);
}

TEST_F(SpanExporterTest, AStopSendsWhatWaits) {
  end_spans(3);
  run_task(io_, exporter_.stop());
  EXPECT_EQ(exporter_.counts().sent, 3U);
  end_spans(1);
  EXPECT_EQ(exporter_.counts().dropped, 1U);
}

}  // namespace
}  // namespace errand::otlp::span_exporter_test
