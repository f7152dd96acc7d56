#include "crypto/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/assert.hpp"

namespace errand::crypto {
namespace {

const unsigned char* to_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
  // Fetched once, because looking up the algorithm by name costs more than hashing a key.
  static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  Sha256 digest;
  int done = EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr);
  ERRAND_ASSERT(done == 1);
  return digest;
}

Sha256 hmac_sha256(std::string_view key, std::string_view message) {
  Sha256 digest;
  std::size_t size = 0;
  const unsigned char* done =
      EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(),
                to_bytes(message), message.size(), digest.data(), digest.size(), &size);
  ERRAND_ASSERT(done && size == digest.size());
  return digest;
}

std::string to_hex(const Sha256& digest) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::uint8_t byte : digest) {
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 15U]);
  }
  return out;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace errand::crypto
