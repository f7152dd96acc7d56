#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "net/server/http_server.hpp"

namespace errand::server {

// What requests have come to since the process began.
struct RequestCounts {
  std::map<int, std::uint64_t> by_status = {};
  std::uint64_t rate_limited = 0;
};

// Writes figures in the text format of Prometheus.
class MetricsWriter final {
 public:
  enum class Kind : std::uint8_t { counter, gauge };

  // Begins a metric; its values follow.
  void metric(std::string_view name, Kind kind, std::string_view help);
  void value(std::uint64_t number);
  // A value with a label. Labels here need no escaping.
  void value(std::string_view label, std::string_view word, std::uint64_t number);

  const std::string& text() const { return out_; }

 private:
  std::string out_;
  std::string name_;
};

// Everything that /metrics tells.
std::string metrics_text(const engine::Engine& engine, const net::HttpServer::Counts& http,
                         const RequestCounts& requests);

}  // namespace errand::server
