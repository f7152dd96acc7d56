#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace errand::crypto {

// Encryption with a proof that nothing was changed: AES-256-GCM with a random nonce for each text.
// A key may seal about 2^32 texts before two nonces are likely to be equal.
struct SealKey {
  std::array<std::uint8_t, 32> bytes{};
};

SealKey random_seal_key();

// Nonce, ciphertext and tag. `context` is not encrypted and not part of the result; the unsealing
// side has to give the same one, so that a sealed text cannot be put in the place of another.
std::string seal(const SealKey& key, std::string_view plain, std::string_view context);

// Nothing: another key, another context, or a sealed text that was changed.
std::optional<std::string> unseal(const SealKey& key, std::string_view sealed,
                                  std::string_view context);

// 64 hex digits, as files and environment variables hold a key.
std::string to_hex(const SealKey& key);
std::optional<SealKey> parse_seal_key(std::string_view hex);

}  // namespace errand::crypto
