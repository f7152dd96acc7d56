#pragma once

#include <cstdint>
#include <string>

namespace errand::crypto {

// Unpredictable bytes from the operating system's generator. No failure: without randomness the
// process ends, because everything it would make from then on could be guessed.
std::uint64_t random_bits();
std::string random_bytes(std::size_t count);
std::string random_hex(std::size_t bytes);

}  // namespace errand::crypto
