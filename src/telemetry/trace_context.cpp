#include "telemetry/trace_context.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"

namespace errand {
namespace {

// 00-<32 digits>-<16 digits>-<2 digits>
constexpr std::size_t kTraceparentChars = 55;
constexpr std::uint8_t kSampledFlag = 1;

// The specification does not allow upper-case digits here.
std::optional<std::uint8_t> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  return {};
}

bool read_hex(std::string_view text, std::span<std::uint8_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto high = digit_value(text[2 * i]);
    auto low = digit_value(text[2 * i + 1]);
    if (!high || !low) return false;
    out[i] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return true;
}

std::string write_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (std::uint8_t byte : bytes) {
    out.push_back(kDigits[byte >> 4U]);
    out.push_back(kDigits[byte & 0xfU]);
  }
  return out;
}

bool is_zero(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kTraceparentChars) return {};
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  TraceContext context;
  const bool is_hex =
      read_hex(text.substr(0, 2), version) && read_hex(text.substr(3, 32), context.trace) &&
      read_hex(text.substr(36, 16), context.span) && read_hex(text.substr(53, 2), flags);
  if (!is_hex || version[0] == 0xff) return {};
  const std::string_view rest = text.substr(kTraceparentChars);
  if (!rest.empty() && (version[0] == 0 || rest[0] != '-')) return {};
  if (is_zero(context.trace) || is_zero(context.span)) return {};
  context.is_sampled = (flags[0] & kSampledFlag) != 0;
  return context;
}

std::string to_traceparent(const TraceContext& context) {
  return cat("00-", to_hex(context.trace), "-", to_hex(context.span),
             context.is_sampled ? "-01" : "-00");
}

std::string to_hex(const TraceId& id) {
  return write_hex(id);
}

std::string to_hex(const SpanId& id) {
  return write_hex(id);
}

}  // namespace errand
