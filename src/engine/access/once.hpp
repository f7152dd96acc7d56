#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "store/idempotency.hpp"

namespace errand::engine {

// A request that makes something with secrets and may come twice. An equal request of the same
// caller gets the same secrets again. They are kept nowhere, and so they are derived from the
// caller's own.
struct Once {
  std::string caller_secret = {};
  Idempotency idempotency = {};

  // Whether the request has an Idempotency-Key.
  bool is_given() const { return !idempotency.key.empty(); }
  // 64 hex digits that follow from the key: the same for every request with it.
  std::string name(std::string_view what) const {
    return crypto::to_hex(crypto::hmac_sha256(caller_secret, cat(what, "\n", idempotency.key)));
  }
  // The same for equal requests alone.
  std::string secret(std::string_view what) const {
    return crypto::to_hex(crypto::hmac_sha256(
        caller_secret, cat(what, "\n", idempotency.key, "\n", idempotency.fingerprint)));
  }
};

inline Error idempotency_conflict() {
  return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
      .reason("idempotency_conflict");
}

}  // namespace errand::engine
