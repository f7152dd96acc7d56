#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "engine/records/master_keys.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

inline constexpr const char* kSecretKeyVariable = "ERRAND_SECRET_KEY";

// The file in a data directory that holds the key of its secrets.
std::filesystem::path secret_key_path(const std::filesystem::path& data);

// Keys as a file or a variable holds them: 64 hex digits each, the current one first, with spaces,
// commas or line breaks between them. invalid_argument: the text holds something else; the message
// names `place`, never the text.
Result<std::vector<crypto::SealKey>> parse_secret_keys(std::string_view text,
                                                       std::string_view place);
// not_found: there is no such file.
Result<std::vector<crypto::SealKey>> read_secret_keys(const std::filesystem::path& file);
// Only the owner may read the file. It is on the disk for good when this returns.
Result<void> write_secret_keys(const std::filesystem::path& file,
                               const std::vector<crypto::SealKey>& keys);

// ERRAND_SECRET_KEY if it is set, else `secret.key` in the data directory, which is made when it is
// needed first.
class SecretKeyFile final : public engine::MasterKeys {
 public:
  // `pool` outlives this.
  SecretKeyFile(std::filesystem::path file, const net::Environment& environment,
                BlockingPool& pool);

  Task<Result<std::vector<crypto::SealKey>>> read() override;
  Task<Result<crypto::SealKey>> make() override;
  std::string place() const override;

 private:
  const std::filesystem::path file_;
  const std::optional<std::string> variable_;
  BlockingPool& pool_;
};

}  // namespace errand::host
