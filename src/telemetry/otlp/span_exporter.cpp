#include "telemetry/otlp/span_exporter.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.hpp"
#include "telemetry/otlp/otlp_json.hpp"

namespace errand::otlp {
namespace {

constexpr std::string_view kService = "errand";
constexpr net::ClientTimeouts kTimeouts{
    .connect = seconds(5), .first_byte = seconds(10), .idle = seconds(10), .total = seconds(20)};

bool is_worth_another_attempt(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// The pause of a Retry-After header in seconds; a date is ignored.
milliseconds pause_asked_for(const net::ClientResponse& response) {
  const std::string_view text = net::find_header(response.headers, "retry-after");
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return std::min<milliseconds>(seconds(value), SpanExporter::kLongestPause);
}

}  // namespace

SpanExporter::SpanExporter(Deps deps, std::string_view url)
    : deps_(std::move(deps)),
      url_(cat(url.ends_with('/') ? url.substr(0, url.size() - 1) : url, "/v1/traces")),
      news_(deps_.home),
      tasks_(deps_.home, [this](const char* task, const std::string& what) {
        deps_.log.error("a task of telemetry failed; this is a bug",
                        {{"task", task}, {"what", what}});
      }) {}

void SpanExporter::end(Span span) {
  if (is_stopping_ || waiting_.size() >= kSpansWaitingMax) {
    ++counts_.dropped;
    return;
  }
  waiting_.push_back(std::move(span));
  if (!std::exchange(is_exporting_, true)) tasks_.spawn("telemetry.export", export_spans());
  if (waiting_.size() >= kBatchSpansMax) news_.notify();
}

Task<void> SpanExporter::stop() {
  is_stopping_ = true;
  stop_waiting_.raise();
  news_.notify();
  TimerGuard limit(deps_.timers, deps_.timers.now() + kStopMax,
                   [this] { tasks_.cancel(CancelReason::shutdown); });
  co_await tasks_.join();
  counts_.dropped += waiting_.size();
  waiting_.clear();
}

// Runs only while there are spans, so that a process without spans has no task.
Task<void> SpanExporter::export_spans() {
  while (!waiting_.empty()) {
    co_await gather();
    const std::size_t count = std::min(waiting_.size(), kBatchSpansMax);
    std::vector<Span> batch;
    batch.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      batch.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    co_await post(std::move(batch));
  }
  is_exporting_ = false;
}

Task<void> SpanExporter::gather() {
  if (is_stopping_ || waiting_.size() >= kBatchSpansMax) co_return;
  TimerGuard limit(deps_.timers, deps_.timers.now() + kGatherTime, [this] { news_.notify(); });
  news_.reset();
  co_await news_.wait();
}

Task<void> SpanExporter::post(std::vector<Span> batch) {
  const std::string body = traces_body(batch, kService);
  const std::size_t count = batch.size();
  batch.clear();
  milliseconds pause = kFirstPause;
  Answer answer;
  for (int attempt = 1; attempt <= kAttemptsMax; ++attempt) {
    answer = co_await post_once(body);
    if (answer.verdict != Verdict::try_again || is_stopping_ || attempt == kAttemptsMax) break;
    const SteadyTime until = deps_.timers.now() + std::max(pause, answer.pause);
    co_await deps_.timers.sleep_until(until, &stop_waiting_);
    pause = std::min(2 * pause, kLongestPause);
  }
  settle(count, answer);
}

Task<SpanExporter::Answer> SpanExporter::post_once(std::string body) {
  auto response = co_await deps_.http.send({.method = net::Method::post,
                                            .url = url_,
                                            .headers = {{"content-type", "application/json"}},
                                            .body = std::move(body),
                                            .timeouts = kTimeouts});
  if (!response) co_return Answer{.why = response.error().message()};
  // A partial success counts as a success: a repeated request would store the accepted spans twice.
  if (response->status / 100 == 2) co_return Answer{.verdict = Verdict::taken};
  co_return Answer{
      .verdict = is_worth_another_attempt(response->status) ? Verdict::try_again : Verdict::refused,
      .pause = pause_asked_for(*response),
      .why = cat("the collector answered with status ", response->status)};
}

void SpanExporter::settle(std::size_t spans, const Answer& answer) {
  if (answer.verdict == Verdict::taken) {
    counts_.sent += spans;
    if (std::exchange(is_failing_, false)) {
      deps_.log.info("the collector takes spans again", {{"url", url_}});
    }
    return;
  }
  counts_.dropped += spans;
  if (std::exchange(is_failing_, true)) return;
  deps_.log.warning("spans are dropped: the collector does not take them",
                    {{"url", url_}, {"why", answer.why}});
}

}  // namespace errand::otlp
