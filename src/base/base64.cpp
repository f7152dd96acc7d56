#include "base/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace errand {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kBase64Digits.size(); ++i) {
    values[static_cast<unsigned char>(kBase64Digits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint32_t value_at(std::string_view digits, std::size_t at) {
  return kValues[static_cast<unsigned char>(digits[at])];
}

std::uint32_t unsigned_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  std::size_t end = out.size();
  out.resize(end + (bytes.size() + 2) / 3 * 4, '=');
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < count ? unsigned_at(bytes, at + i) : 0);
    for (std::size_t i = 0; i <= count; ++i)
      out[end + i] = kBase64Digits[bits >> (18 - 6 * i) & 63U];
    end += 4;
  }
}

std::string to_base64(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string_view digits = text.substr(0, text.size() - padding);
  std::string out(digits.size() * 3 / 4, '\0');
  std::size_t end = 0;
  std::uint32_t seen = 0;  // all values together
  std::size_t at = 0;
  for (; at + 4 <= digits.size(); at += 4) {
    const std::uint32_t a = value_at(digits, at);
    const std::uint32_t b = value_at(digits, at + 1);
    const std::uint32_t c = value_at(digits, at + 2);
    const std::uint32_t d = value_at(digits, at + 3);
    seen |= a | b | c | d;
    const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
    out[end] = static_cast<char>(bits >> 16);
    out[end + 1] = static_cast<char>(bits >> 8);
    out[end + 2] = static_cast<char>(bits);
    end += 3;
  }
  std::uint32_t bits = 0;
  std::size_t count = 0;  // of bits that are not yet part of a byte
  for (; at < digits.size(); ++at) {
    seen |= value_at(digits, at);
    bits = bits << 6 | value_at(digits, at);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out[end++] = static_cast<char>(bits >> count);
    bits &= (1U << count) - 1;
  }
  // Bits that are part of no byte must be zero, so that no two texts stand for the same bytes.
  if (seen >= kBase64Digits.size() || bits != 0) return {};
  return out;
}

}  // namespace errand
