#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "room/wire/content.hpp"
#include "telemetry/span.hpp"

namespace errand::room {

// Who tells of calls, and to whom.
struct CallSpans {
  SpanSink* sink = nullptr;  // outlives the calls; null: no spans
  const Clock* clock = nullptr;
};

// What a span says of a call from its beginning.
struct CallFacts {
  std::string toolkit;
  std::string tool;
  std::vector<std::pair<std::string, SpanValue>> attributes;
  std::string traceparent;  // of the caller; may be empty
};

// The span of a call that goes through a room: from the request to the last chunk of its answer. If
// it goes before its end, the call was given up.
class CallSpan final {
 public:
  CallSpan(const CallSpans& spans, CallFacts facts);
  ~CallSpan();
  CallSpan(const CallSpan&) = delete;
  CallSpan& operator=(const CallSpan&) = delete;

  // For the host: the call as its parent.
  std::string traceparent() const { return to_traceparent(span_.context); }
  // The answer has begun to come.
  void open() { response_type_ = "stream"; }
  // The answer, or the last chunk of it.
  void end(const Content& last);

 private:
  void finish();

  SpanSink* sink_;  // null: the span is told, or there are no spans
  const Clock& clock_;
  Span span_;
  std::string response_type_;
};

}  // namespace errand::room
