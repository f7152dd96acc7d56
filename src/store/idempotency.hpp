#pragma once

#include <chrono>
#include <string>

namespace errand {

// What makes a request that creates something count once: the caller's Idempotency-Key with a
// fingerprint of the request. Both are empty without a key.
struct Idempotency {
  std::string key;
  std::string fingerprint;
};
// For so long a key finds what its request made; after that the key counts as new.
constexpr std::chrono::hours kIdempotencyKept{24};

enum class Creation {
  created,
  existing,  // an equal request with the same key has made it
  conflict   // another request has used the key
};

}  // namespace errand
