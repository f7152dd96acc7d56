#include "sdk/client/engine_backend.hpp"

#include <unistd.h>

#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "sdk/bridge/own_model.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "store/memory/memory_store.hpp"

namespace errand::sdk {
namespace {

Result<host::ModelConfig> own_model(const v1::RuntimeModel& model, Handlers& handlers) {
  if (model.id.empty() || !model.model) {
    return Error(ErrorCode::invalid_argument, "a model of the program needs an id and a model");
  }
  host::ModelConfig config{
      .info = {.id = model.id, .provider = "program", .vendor_model_id = model.id},
      .label = model.label.empty() ? model.id : model.label};
  config.make = [&handlers, own = model.model](const host::ModelSurroundings&) {
    return bridge_model(handlers, own);
  };
  return config;
}

Result<host::Config> config_of(const v1::RuntimeOptions& options, Handlers& handlers) {
  host::Config config;
  if (options.models.empty() || !options.config.empty()) {
    ERRAND_TRY(config, host::load_config(options.config));
  }
  std::vector<host::ModelConfig> models;
  for (const v1::RuntimeModel& model : options.models) {
    ERRAND_TRY(auto own, own_model(model, handlers));
    if (host::find_model(models, own.info.id) || host::find_model(config.models, own.info.id)) {
      return Error(ErrorCode::conflict, cat("two models have the id ", own.info.id));
    }
    models.push_back(std::move(own));
  }
  if (!models.empty()) config.default_model = models.front().info.id;
  std::move(config.models.begin(), config.models.end(), std::back_inserter(models));
  config.models = std::move(models);
  return config;
}

Result<std::unique_ptr<Store>> make_store(const std::string& data, const Clock& clock,
                                          BlockingPool& pool, Log& log) {
  if (!data.empty()) return host::open_store({.data = data, .store = {}}, clock, pool, log);
  return std::unique_ptr<Store>(std::make_unique<MemoryStore>(make_memory_store_data(), clock));
}

// The program's time of day.
class ProgramClock final : public Clock {
 public:
  explicit ProgramClock(std::function<std::chrono::system_clock::time_point()> now)
      : now_(std::move(now)) {}
  WallTime now() const override { return std::chrono::floor<milliseconds>(now_()); }
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }

 private:
  const std::function<std::chrono::system_clock::time_point()> now_;
};

std::unique_ptr<const Clock> clock_of(const v1::RuntimeOptions& options) {
  if (options.now) return std::make_unique<const ProgramClock>(options.now);
  return std::make_unique<const SystemClock>();
}

}  // namespace

EngineBackend::EngineBackend(const RunnerCore::Surroundings& around,
                             std::unique_ptr<const Clock> clock)
    : clock_(std::move(clock)),
      log_(*clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning),
      pool_(host::kBlockingThreads, host::kBlockingQueueMax),
      tools_(around.home.executor(), crypto::random_hex(4)) {}

Result<std::unique_ptr<Backend>> EngineBackend::make(const v1::RuntimeOptions& options,
                                                     const RunnerCore::Surroundings& around) {
  ERRAND_TRY(auto config, config_of(options, around.handlers));
  ERRAND_TRY(auto tools, bridge_tools(around.handlers, options.tools, options.toolkits));
  std::unique_ptr<EngineBackend> made(new EngineBackend(around, clock_of(options)));
  for (ToolPtr& tool : tools) made->tools_.add(std::move(tool));
  ERRAND_TRY(auto store, make_store(options.data, *made->clock_, made->pool_, made->log_));
  made->host_ = std::make_unique<host::Host>(host::Host::Surroundings{.io = around.io,
                                                                      .clock = *made->clock_,
                                                                      .log = made->log_,
                                                                      .program = &made->tools_,
                                                                      .typed_events = true,
                                                                      .data = options.data},
                                             std::move(config), std::move(store));
  made->api_ = std::make_unique<EmbeddedApi>(*made->host_);
  made->host_->engine().start();
  return std::unique_ptr<Backend>(std::move(made));
}

Task<void> EngineBackend::stop() {
  host_->engine().drain();
  co_await host_->stop();
}

}  // namespace errand::sdk
