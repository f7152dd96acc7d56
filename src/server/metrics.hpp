#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop_watch.hpp"
#include "base/histogram.hpp"
#include "engine/engine.hpp"
#include "net/server/http_server.hpp"

namespace errand::server {

// What requests have come to since the process began.
struct RequestCounts {
  std::map<int, std::uint64_t> by_status = {};
  std::uint64_t rate_limited = 0;
  std::map<std::string, std::uint64_t> by_limit = {};    // refused, by the name of the limit
  std::map<std::string, std::uint64_t> by_refusal = {};  // because of who asks, by the reason
};

// A limit of this server. Absent: there is none.
struct LimitValue {
  std::string_view name;
  std::optional<std::uint64_t> value;
};

// What became of the spans of this process.
struct SpanTally {
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;
};

// Who is connected by other means than requests and event streams.
struct ConnectedTally {
  std::uint64_t rooms = 0;  // with participants
  std::uint64_t participants = 0;
  std::uint64_t mcp_sessions = 0;
  std::uint64_t mcp_requests = 0;  // outside of sessions
};

// What the process is, as far as the system tells.
struct ProcessFacts {
  double started_at = 0;  // seconds since 1970
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t open_files = 0;
  std::optional<std::uint64_t> disk_free_bytes = {};
  std::optional<std::uint64_t> database_bytes = {};  // of the file of the database
  std::uint64_t log_bytes = 0;                       // of its write-ahead log
  double loop_lag_seconds = 0;
};
// Everything but the start and the lag. `data` is a path on the disk of the store, and `database`
// the path of its file; empty: there is none.
ProcessFacts process_facts(const std::string& data, const std::string& database);

// Writes figures in the text format of Prometheus.
class MetricsWriter final {
 public:
  enum class Kind : std::uint8_t { counter, gauge, histogram };

  // Begins a metric; its values follow.
  void metric(std::string_view name, Kind kind, std::string_view help);
  void value(std::uint64_t number);
  void value(double number);
  // A value with a label, or with several.
  void value(std::string_view label, std::string_view word, std::uint64_t number);
  struct Label {
    std::string_view name;
    std::string_view word;
  };
  void value(std::initializer_list<Label> labels, std::uint64_t number);
  void value(std::initializer_list<Label> labels, double number);

  // A metric of its own, in seconds.
  void histogram(std::string_view name, std::string_view help, const DurationHistogram& times);

  const std::string& text() const { return out_; }

 private:
  void begin_value(std::initializer_list<Label> labels);

  std::string out_;
  std::string name_;
};

// Everything that /metrics tells.
struct MetricsSources {
  const engine::Engine& engine;
  const net::HttpServer::Counts& http;
  const RequestCounts& requests;
  const std::vector<LimitValue>& limits;
  const ProcessFacts& process;
  std::optional<SpanTally> spans = {};                 // absent: spans go nowhere
  std::optional<ConnectedTally> connected = {};        // absent: there is only the API
  std::optional<std::uint64_t> messages_waiting = {};  // absent: the store does not answer
  const LoopWatch* loop = nullptr;                     // null: not watched
};
std::string metrics_text(const MetricsSources& from);

}  // namespace errand::server
