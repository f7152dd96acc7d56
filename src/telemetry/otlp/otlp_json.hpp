#pragma once

#include <span>
#include <string>
#include <string_view>

#include "telemetry/span.hpp"

namespace errand::otlp {

// Texts of attributes are cut to this length.
inline constexpr std::size_t kAttributeBytesMax = 4096;

// The body of a request to `/v1/traces`. `service` is the resource's service.name.
std::string traces_body(std::span<const Span> spans, std::string_view service);

}  // namespace errand::otlp
