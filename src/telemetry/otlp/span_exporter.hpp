#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/log.hpp"
#include "net/client/http_client.hpp"
#include "telemetry/span.hpp"

namespace errand::otlp {

// What became of the spans of a process.
struct SpanCounts {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;  // no room, or the collector did not take them
};

// Posts spans to a collector. Work never waits for it: what does not fit, or is not taken, is
// dropped and counted. Stop it before it is destroyed.
class SpanExporter final : public SpanSink {
 public:
  static constexpr std::size_t kSpansWaitingMax = 4096;  // further ones are dropped
  static constexpr std::size_t kBatchSpansMax = 128;     // few enough for a millisecond of writing
  static constexpr milliseconds kGatherTime{1000};       // from the first span to its batch
  static constexpr int kAttemptsMax = 4;
  static constexpr milliseconds kFirstPause{500};  // doubled for every further attempt
  static constexpr milliseconds kLongestPause{30'000};
  static constexpr milliseconds kStopMax{2000};

  // Outlive the exporter.
  struct Deps {
    Executor home;
    net::HttpClient& http;
    Timers& timers;
    Log& log;
  };

  // `url` is the collector's, such as http://127.0.0.1:4318, without /v1/traces.
  SpanExporter(Deps deps, std::string_view url);

  void end(Span span) override;
  const SpanCounts& counts() const { return counts_; }

  // Sends what waits, unless that takes too long.
  Task<void> stop();

 private:
  enum class Verdict : std::uint8_t { taken, refused, try_again };
  struct Answer {
    Verdict verdict = Verdict::try_again;
    milliseconds pause{};  // that the collector asks for
    std::string why = {};
  };

  Task<void> export_spans();
  Task<void> gather();
  Task<void> post(std::vector<Span> batch);
  Task<Answer> post_once(std::string body);
  void settle(std::size_t spans, const Answer& answer);

  Deps deps_;
  const std::string url_;
  std::deque<Span> waiting_;
  SpanCounts counts_;
  bool is_exporting_ = false;
  bool is_failing_ = false;  // the log has been told
  bool is_stopping_ = false;
  Interrupt stop_waiting_;  // ends pauses once the exporter stops
  Wakeup news_;             // a batch is full, or the exporter stops
  TaskGroup tasks_;         // last: the task uses everything above
};

}  // namespace errand::otlp
