#include "crypto/seal.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/assert.hpp"
#include "crypto/random.hpp"

namespace errand::crypto {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

enum class Direction { sealing = 1, unsealing = 0 };

CipherContext begin(Direction direction, const SealKey& key, std::string_view nonce,
                    std::string_view context) {
  static EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  CipherContext out(EVP_CIPHER_CTX_new());
  const int is_sealing = static_cast<int>(direction);
  int begun =
      EVP_CipherInit_ex2(out.get(), cipher, key.bytes.data(), bytes_of(nonce), is_sealing, nullptr);
  ERRAND_ASSERT(begun == 1);
  int size = 0;
  int bound = EVP_CipherUpdate(out.get(), nullptr, &size, bytes_of(context),
                               static_cast<int>(context.size()));
  ERRAND_ASSERT(bound == 1);
  return out;
}

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return {};
}

}  // namespace

SealKey random_seal_key() {
  SealKey key;
  std::string bytes = random_bytes(key.bytes.size());
  std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
  return key;
}

std::string seal(const SealKey& key, std::string_view plain, std::string_view context) {
  std::string out = random_bytes(kNonceBytes);
  CipherContext cipher = begin(Direction::sealing, key, out, context);
  out.resize(kNonceBytes + plain.size() + kTagBytes);
  unsigned char* at = bytes_of(out) + kNonceBytes;
  int size = 0;
  int written =
      EVP_CipherUpdate(cipher.get(), at, &size, bytes_of(plain), static_cast<int>(plain.size()));
  ERRAND_ASSERT(written == 1 && static_cast<std::size_t>(size) == plain.size());
  unsigned char* tag = at + plain.size();
  int ended = EVP_CipherFinal_ex(cipher.get(), tag, &size);
  int tagged = EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag);
  ERRAND_ASSERT(ended == 1 && tagged == 1);
  return out;
}

std::optional<std::string> unseal(const SealKey& key, std::string_view sealed,
                                  std::string_view context) {
  if (sealed.size() < kNonceBytes + kTagBytes) return {};
  std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  CipherContext cipher = begin(Direction::unsealing, key, sealed.substr(0, kNonceBytes), context);
  std::string plain(text.size() + kTagBytes, '\0');
  int size = 0;
  int read = EVP_CipherUpdate(cipher.get(), bytes_of(plain), &size, bytes_of(text),
                              static_cast<int>(text.size()));
  int tagged = EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data());
  ERRAND_ASSERT(read == 1 && tagged == 1);
  if (EVP_CipherFinal_ex(cipher.get(), bytes_of(plain) + text.size(), &size) != 1) return {};
  plain.resize(text.size());
  return plain;
}

std::string to_hex(const SealKey& key) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::uint8_t byte : key.bytes) {
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 15U]);
  }
  return out;
}

std::optional<SealKey> parse_seal_key(std::string_view hex) {
  SealKey key;
  if (hex.size() != 2 * key.bytes.size()) return {};
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    auto high = hex_digit(hex[2 * i]);
    auto low = hex_digit(hex[2 * i + 1]);
    if (!high || !low) return {};
    key.bytes[i] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return key;
}

}  // namespace errand::crypto
