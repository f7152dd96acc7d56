#include "host/secret_key_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeyFileBytesMax = 64 * 1024;

// A renamed file survives a power failure only once its directory is on the disk.
Result<void> sync_directory(const fs::path& directory) {
  Descriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0 && ::fsync(opened.get()) == 0) return {};
  return Error(ErrorCode::unavailable, cat("cannot write ", directory.string(), ": ",
                                           std::generic_category().message(errno)));
}

}  // namespace

fs::path secret_key_path(const fs::path& data) {
  return data / "secret.key";
}

Result<std::vector<crypto::SealKey>> parse_secret_keys(std::string_view text,
                                                       std::string_view place) {
  constexpr std::string_view kBetween = " ,\t\r\n";
  std::vector<crypto::SealKey> keys;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) break;
    std::string_view word = text.substr(0, text.find_first_of(kBetween));
    auto key = crypto::parse_seal_key(word);
    if (!key) {
      return Error(ErrorCode::invalid_argument,
                   cat(place, " does not hold a key: expected 64 hex digits"))
          .reason("secret_key_wrong")
          .hint("'openssl rand -hex 32' makes one");
    }
    keys.push_back(*key);
    text.remove_prefix(word.size());
  }
  if (!keys.empty()) return keys;
  return Error(ErrorCode::invalid_argument, cat(place, " is empty: expected 64 hex digits"))
      .reason("secret_key_wrong");
}

Result<std::vector<crypto::SealKey>> read_secret_keys(const fs::path& file) {
  auto text = read_whole_file(file, kKeyFileBytesMax);
  if (text) return parse_secret_keys(*text, file.string());
  if (text.error().code() == ErrorCode::not_found) {
    return Error(ErrorCode::not_found, cat("there is no file ", file.string()));
  }
  return Error(ErrorCode::unavailable, text.error().message()).reason("secret_key_missing");
}

Result<void> write_secret_keys(const fs::path& file, const std::vector<crypto::SealKey>& keys) {
  std::string text;
  for (const crypto::SealKey& key : keys) append(text, crypto::to_hex(key), "\n");
  ERRAND_CHECK(write_whole_file(file, text));
  return sync_directory(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

SecretKeyFile::SecretKeyFile(fs::path file, const net::Environment& environment, BlockingPool& pool)
    : file_(std::move(file)), variable_(environment(kSecretKeyVariable)), pool_(pool) {}

Task<Result<std::vector<crypto::SealKey>>> SecretKeyFile::read() {
  if (variable_) co_return parse_secret_keys(*variable_, kSecretKeyVariable);
  auto keys = co_await pool_.run([file = file_] { return read_secret_keys(file); });
  if (!keys && keys.error().code() == ErrorCode::not_found) {
    co_return std::vector<crypto::SealKey>();
  }
  co_return keys;
}

Task<Result<crypto::SealKey>> SecretKeyFile::make() {
  co_return co_await pool_.run([file = file_]() -> Result<crypto::SealKey> {
    crypto::SealKey key = crypto::random_seal_key();
    ERRAND_CHECK(write_secret_keys(file, {key}));
    return key;
  });
}

std::string SecretKeyFile::place() const {
  return variable_ ? kSecretKeyVariable : file_.string();
}

}  // namespace errand::host
