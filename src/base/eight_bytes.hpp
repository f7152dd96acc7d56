#pragma once

#include <cstdint>
#include <cstring>

namespace errand {

// Eight bytes of a text, looked at together: for loops over long texts in which few bytes need a
// closer look.
class EightBytes final {
 public:
  static constexpr std::size_t kSize = sizeof(std::uint64_t);

  // `text` has at least that many.
  explicit EightBytes(const char* text) { std::memcpy(&word_, text, kSize); }

  bool has_non_ascii() const { return (word_ & kHighBits) != 0; }
  // Whether an ASCII byte is below `bound`, which is ASCII itself.
  bool has_below(unsigned char bound) const { return has_below(word_, bound); }
  bool has(char ascii) const { return has_below(word_ ^ (kOnes * byte(ascii)), 1); }

 private:
  static constexpr std::uint64_t kOnes = 0x0101010101010101U;
  static constexpr std::uint64_t kHighBits = 0x8080808080808080U;

  static constexpr unsigned char byte(char c) { return static_cast<unsigned char>(c); }

  // A byte borrows from the next one only if it is below the bound itself.
  static bool has_below(std::uint64_t word, unsigned char bound) {
    return ((word - (kOnes * bound)) & ~word & kHighBits) != 0;
  }

  std::uint64_t word_ = 0;
};

}  // namespace errand
