#pragma once

#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "crypto/seal.hpp"

namespace errand::engine {

// The keys that a server keeps outside its store, and under which the store's own key is sealed.
class MasterKeys {
 public:
  virtual ~MasterKeys() = default;
  // The current key first; the keys behind it are being phased out and only unseal. Empty: there is
  // no key yet. invalid_argument: the stored text is no key.
  virtual Task<Result<std::vector<crypto::SealKey>>> read() = 0;
  // Makes one where there is none, and keeps it. Durable when it returns.
  virtual Task<Result<crypto::SealKey>> make() = 0;
  // Where they are, for messages: "DIR/secret.key".
  virtual std::string place() const = 0;
};

// Keys that live as long as the process.
class PassingKeys final : public MasterKeys {
 public:
  Task<Result<std::vector<crypto::SealKey>>> read() override { co_return keys_; }
  Task<Result<crypto::SealKey>> make() override {
    keys_.push_back(crypto::random_seal_key());
    co_return keys_.back();
  }
  std::string place() const override { return "the memory of this process"; }

 private:
  std::vector<crypto::SealKey> keys_;
};

}  // namespace errand::engine
