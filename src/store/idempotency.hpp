#pragma once

#include <chrono>
#include <string>

namespace errand {

// What makes a request that creates something count once: the caller's Idempotency-Key with a
// fingerprint of what was asked. Both are empty without one.
struct Idempotency {
  std::string key;
  std::string fingerprint;
};
// For so long a key finds what it made; after that it is as new.
constexpr std::chrono::hours kIdempotencyKept{24};

enum class Creation {
  created,
  existing,  // an equal request with the same key has made it
  conflict   // another request has used the key
};

}  // namespace errand
