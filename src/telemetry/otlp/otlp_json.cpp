#include "telemetry/otlp/otlp_json.hpp"

#include <variant>

#include "base/text.hpp"
#include "base/version.hpp"
#include "json/value.hpp"
#include "json/write.hpp"

namespace errand::otlp {
namespace {

constexpr std::int64_t kStatusError = 2;

// In the JSON form of protocol buffers, 64-bit numbers are strings.
json::Object value_json(const SpanValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return {{"stringValue", utf8_prefix(*text, kAttributeBytesMax)}};
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return {{"intValue", std::to_string(*number)}};
  }
  if (const auto* number = std::get_if<double>(&value)) return {{"doubleValue", *number}};
  if (const auto* flag = std::get_if<bool>(&value)) return {{"boolValue", *flag}};
  json::Array texts;
  for (const std::string& text : std::get<std::vector<std::string>>(value)) {
    texts.emplace_back(value_json(text));
  }
  return {{"arrayValue", json::Object{{"values", std::move(texts)}}}};
}

json::Object attribute_json(std::string_view key, const SpanValue& value) {
  return {{"key", key}, {"value", value_json(value)}};
}

std::string nanos(WallTime time) {
  return cat(to_millis(time), "000000");
}

json::Object span_json(const Span& span) {
  json::Object out{{"traceId", to_hex(span.context.trace)},
                   {"spanId", to_hex(span.context.span)},
                   {"name", span.name},
                   {"kind", static_cast<std::int64_t>(span.kind)},
                   {"startTimeUnixNano", nanos(span.begun)},
                   {"endTimeUnixNano", nanos(span.ended)}};
  if (span.parent) out["parentSpanId"] = to_hex(*span.parent);
  json::Array attributes;
  for (const auto& [key, value] : span.attributes) {
    attributes.emplace_back(attribute_json(key, value));
  }
  out["attributes"] = std::move(attributes);
  if (span.error) {
    out["status"] = json::Object{{"code", kStatusError},
                                 {"message", utf8_prefix(*span.error, kAttributeBytesMax)}};
  }
  return out;
}

}  // namespace

std::string traces_body(std::span<const Span> spans, std::string_view service) {
  json::Array list;
  list.reserve(spans.size());
  for (const Span& span : spans) list.emplace_back(span_json(span));
  json::Object scope{{"name", "errand"}, {"version", version()}};
  json::Array resource{attribute_json("service.name", std::string(service)),
                       attribute_json("service.version", std::string(version()))};
  json::Object body{{"resourceSpans",
                     json::Array{json::Object{
                         {"resource", json::Object{{"attributes", std::move(resource)}}},
                         {"scopeSpans", json::Array{json::Object{{"scope", std::move(scope)},
                                                                 {"spans", std::move(list)}}}}}}}};
  return json::write(body);
}

}  // namespace errand::otlp
