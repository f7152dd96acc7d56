#include "cli/operate/secret_key_command.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/report.hpp"
#include "engine/records/secret_vault.hpp"
#include "host/environment.hpp"
#include "host/host.hpp"
#include "host/secret_key_file.hpp"
#include "host/store_file.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

template <class T>
Result<T> blocking(Task<Result<T>> task) {
  asio::io_context io(1);
  return sdk::wait_for(io, std::move(task));
}

// Writes the file with a new key before the existing ones.
Result<void> add_key(const fs::path& file) {
  auto keys = host::read_secret_keys(file);
  if (!keys && keys.error().code() != ErrorCode::not_found) return std::move(keys).error();
  std::vector<crypto::SealKey> all{crypto::random_seal_key()};
  if (keys) all.insert(all.end(), keys->begin(), keys->end());
  return host::write_secret_keys(file, all);
}

// Writes the file with the current key only.
Result<void> drop_old_keys(const fs::path& file) {
  ERRAND_TRY(auto keys, host::read_secret_keys(file));
  return host::write_secret_keys(file, {keys.front()});
}

class Rotation final {
 public:
  Rotation(const RotateOptions& options, Store& store, BlockingPool& pool)
      : options_(options),
        file_(host::secret_key_path(options.data)),
        is_in_environment_(host::environment_here()(host::kSecretKeyVariable).has_value()),
        keys_(file_, host::environment_here(), pool),
        vault_(store, keys_) {}

  Result<std::string> run() {
    if (options_.lost) return start_anew();
    if (is_in_environment_) {
      ERRAND_TRY(bool is_new, blocking(vault_.rewrap()));
      return std::string(is_new ? "The secrets are sealed with the first key of "
                                  "ERRAND_SECRET_KEY. Take the others out of it.\n"
                                : "The secrets are sealed with the first key of ERRAND_SECRET_KEY "
                                  "already. To change it, put the new key in front of the old "
                                  "one, with a comma between them, and run this again.\n");
    }
    ERRAND_CHECK(finish_earlier());
    ERRAND_CHECK(add_key(file_));
    ERRAND_CHECK(blocking(vault_.rewrap()));
    ERRAND_CHECK(drop_old_keys(file_));
    return cat("The secrets are sealed with a new key, in ", file_.string(),
               ". Keep a copy of it apart from your backups.\n");
  }

 private:
  // If an earlier rotation was cut off, the file still has two keys.
  Result<void> finish_earlier() {
    auto keys = host::read_secret_keys(file_);
    if (!keys && keys.error().code() != ErrorCode::not_found) return std::move(keys).error();
    ERRAND_CHECK(blocking(vault_.rewrap()));
    if (keys && keys->size() > 1) return drop_old_keys(file_);
    return {};
  }

  Result<std::string> start_anew() {
    if (!is_in_environment_) {
      ERRAND_CHECK(host::write_secret_keys(file_, {crypto::random_seal_key()}));
    }
    ERRAND_CHECK(blocking(vault_.start_anew()));
    return cat("There is a new key, at ", keys_.place(),
               ". Every secret has to be set again: errand secrets set NAME\n");
  }

  const RotateOptions& options_;
  const fs::path file_;
  const bool is_in_environment_;
  host::SecretKeyFile keys_;
  engine::SecretVault vault_;
};

Result<std::string> rotate(const RotateOptions& options) {
  ERRAND_TRY(auto path, host::store_file(options.data, options.store));
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return Error(ErrorCode::not_found, cat("there is no database ", path.string()))
        .hint("name the directory of 'errand serve' with --data DIR");
  }
  SystemClock clock;
  Log log(clock, STDERR_FILENO, LogFormat::text, LogLevel::warning);
  BlockingPool pool(host::kBlockingThreads, host::kBlockingQueueMax);
  auto store = host::open_store({.data = options.data, .store = options.store}, clock, pool, log);
  if (!store && store.error().code() == ErrorCode::conflict) {
    return std::move(store).error().hint("stop the server first");
  }
  if (!store) return std::move(store).error();
  Rotation rotation(options, **store, pool);
  return rotation.run();
}

}  // namespace

int rotate_secret_key(const RotateOptions& options) {
  ignore_broken_pipes();
  auto text = rotate(options);
  if (!text) return fail(text.error());
  return print(*text);
}

}  // namespace errand::cli
