#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "telemetry/trace_context.hpp"

namespace errand {

// The numbers are those of OTLP.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3 };

using SpanValue = std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

// A piece of work that is over.
struct Span {
  TraceContext context;               // its trace and its own id
  std::optional<SpanId> parent = {};  // nothing: the root of its trace
  std::string name;
  SpanKind kind = SpanKind::internal;
  WallTime begun = {};
  WallTime ended = {};
  std::vector<std::pair<std::string, SpanValue>> attributes = {};
  std::optional<std::string> error = {};  // set: the work failed, and this says why
};

// Takes the spans of a process. Nobody waits for it, and it may drop spans. Call on its home.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  virtual void end(Span span) = 0;
};

}  // namespace errand
