#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand {

// Ids as W3C Trace Context and OpenTelemetry have them. All zeros means none.
using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

// The place of some work in a distributed trace: the trace, and the span that the work belongs to.
struct TraceContext {
  TraceId trace = {};
  SpanId span = {};
  bool is_sampled = true;  // false: whoever began the trace does not want its spans

  bool operator==(const TraceContext&) const = default;
};

// Reads the header `traceparent`. Versions after 00 may have more fields, which are ignored.
// Nothing if the text is malformed: the work then begins a trace of its own.
std::optional<TraceContext> parse_traceparent(std::string_view text);
std::string to_traceparent(const TraceContext& context);

// Lower-case hexadecimal digits.
std::string to_hex(const TraceId& id);
std::string to_hex(const SpanId& id);

}  // namespace errand
