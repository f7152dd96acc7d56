#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace errand::crypto {

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

// HMAC-SHA256.
Sha256 hmac_sha256(std::string_view key, std::string_view message);

std::string to_hex(const Sha256& digest);

// Takes the same time wherever the first difference is. The lengths are not secret.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace errand::crypto
