#include "crypto/random.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace errand::crypto {
namespace {

void fill(unsigned char* bytes, std::size_t size) {
  while (size > 0) {
    auto got = ::getrandom(bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) std::abort();
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

std::uint64_t random_bits() {
  std::uint64_t bits = 0;
  fill(reinterpret_cast<unsigned char*>(&bits), sizeof bits);
  return bits;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  fill(reinterpret_cast<unsigned char*>(out.data()), count);
  return out;
}

std::string random_hex(std::size_t bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (char c : random_bytes(bytes)) {
    auto byte = static_cast<unsigned char>(c);
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 15U]);
  }
  return out;
}

}  // namespace errand::crypto
