#include "cli/host.hpp"

#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/store_file.hpp"
#include "crypto/random.hpp"
#include "server/error_body.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

Result<void> make_data_directory(const fs::path& data) {
  std::error_code error;
  fs::create_directories(data, error);
  if (!error && ::access(data.c_str(), W_OK) == 0) return {};
  return Error(
      ErrorCode::invalid_argument,
      cat("cannot write to the data directory ", data.string(), ": ",
          error ? error.message() : "permission denied", "; choose another one with --data DIR"));
}

server::ApiOptions with_config(server::ApiOptions options, const Config& config) {
  options.missing_result = config.missing_result;
  return options;
}

}  // namespace

Host::Host(Surroundings around, Config config, std::unique_ptr<Store> store,
           server::ApiOptions api_options)
    : config_(std::move(config)),
      home_(around.io),
      timers_(home_),
      ids_(around.clock, crypto::random_bits),
      store_(std::move(store)),
      client_(client_options_here()),
      catalog_(make_catalog(config_, {.client = client_,
                                      .timers = timers_,
                                      .clock = around.clock,
                                      .home = home_.executor(),
                                      .log = around.log})),
      keys_(*store_, around.clock, ids_),
      engine_({.home = home_,
               .store = *store_,
               .clock = around.clock,
               .timers = timers_,
               .ids = ids_,
               .catalog = catalog_,
               .tools = tools_,
               .log = around.log},
              config_.limits),
      api_(engine_, keys_, with_config(std::move(api_options), config_)),
      router_(server::render_error) {
  api_.add_routes(router_);
}

Result<Config> load_config(const std::string& file) {
  if (file.empty()) return default_config(environment_here());
  return read_config(file, environment_here());
}

Result<std::unique_ptr<Store>> open_store(const StorePlace& place, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  ERRAND_CHECK(make_data_directory(place.data));
  ERRAND_TRY(auto path, store_file(place.data, place.store));
  ERRAND_TRY(auto store,
             SqliteStore::open({.path = path.string(), .clock = clock, .pool = pool, .log = log}));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace errand::cli
