#pragma once

#include <cstddef>
#include <cstdint>

namespace errand::json::schema {

// Text that a step pays for, where it is only copied, hashed or compared.
constexpr std::size_t kTextBytesPerStep = 64;

// The steps that one validation may still take. Once spent it stays so, and everything that asks it
// gives up.
class Budget final {
 public:
  explicit Budget(std::int64_t steps) : left_(steps) {}

  bool spend(std::size_t steps) {
    left_ -= static_cast<std::int64_t>(steps);
    return left_ >= 0;
  }
  bool affords(std::size_t steps) const { return left_ >= static_cast<std::int64_t>(steps); }
  void exhaust() { left_ = -1; }
  bool spent() const { return left_ < 0; }

 private:
  std::int64_t left_;
};

}  // namespace errand::json::schema
