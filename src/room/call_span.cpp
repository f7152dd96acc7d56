#include "room/call_span.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"

namespace errand::room {
namespace {

template <class Id>
Id random_id() {
  Id id{};
  const std::string bytes = crypto::random_bytes(id.size());
  std::copy(bytes.begin(), bytes.end(), id.begin());
  return id;
}

}  // namespace

CallSpan::CallSpan(const CallSpans& spans, CallFacts facts)
    : sink_(spans.sink), clock_(*spans.clock) {
  span_.name = cat("invoke.", facts.toolkit, ".", facts.tool);
  span_.kind = SpanKind::server;
  span_.begun = clock_.now();
  span_.attributes = std::move(facts.attributes);
  if (auto parent = parse_traceparent(facts.traceparent)) {
    span_.context = *parent;
    span_.parent = parent->span;
  } else {
    span_.context.trace = random_id<TraceId>();
  }
  span_.context.span = random_id<SpanId>();
  if (!span_.context.is_sampled) sink_ = nullptr;
}

CallSpan::~CallSpan() {
  if (!sink_) return;
  span_.error = "the call was given up";
  finish();
}

void CallSpan::end(const Content& last) {
  if (!sink_) return;
  const json::Object& header = last.header;
  if (kind_of(header) == ContentKind::error) {
    span_.error = std::string(json::text_at(&header, "text"));
    if (auto code = json::integer_at(&header, "code")) {
      span_.attributes.emplace_back("error.type", cat("room_", *code));
    }
  }
  const std::int64_t status = close_status(header);
  if (is_close(header) && status != kNormalEnd) {
    span_.error = std::string(json::text_at(&header, "message"));
    span_.attributes.emplace_back("error.type", cat("close_", status));
  }
  if (response_type_.empty()) response_type_ = json::text_at(&header, "type");
  finish();
}

void CallSpan::finish() {
  if (!response_type_.empty()) span_.attributes.emplace_back("response_type", response_type_);
  span_.ended = clock_.now();
  std::exchange(sink_, nullptr)->end(std::move(span_));
}

}  // namespace errand::room
