#include "sdk/client/engine_backend.hpp"

#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "sdk/bridge/own_model.hpp"
#include "sdk/bridge/public_tool.hpp"

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

Result<host::Config> config_of(const v1::RuntimeOptions& options, Handlers& handlers,
                               std::optional<host::Config> given) {
  host::Config config;
  if (given) {
    config = std::move(*given);
  } else if (options.models.empty() || !options.config.empty()) {
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

// The time of day that the program's function returns.
class ProgramClock final : public Clock {
 public:
  explicit ProgramClock(std::function<std::chrono::system_clock::time_point()> now)
      : now_(std::move(now)) {}
  WallTime now() const override { return std::chrono::floor<milliseconds>(now_()); }
  SteadyTime steady_now() const override { return std::chrono::steady_clock::now(); }

 private:
  const std::function<std::chrono::system_clock::time_point()> now_;
};

// Empty: the system's clock is used.
std::unique_ptr<const Clock> clock_of(const v1::RuntimeOptions& options) {
  return options.now ? std::make_unique<const ProgramClock>(options.now) : nullptr;
}

}  // namespace

EngineBackend::EngineBackend(const RunnerCore::Surroundings& around, ProgramTools::Absence absence)
    : tools_(around.home.executor(), crypto::random_hex(4), absence) {}

Result<std::unique_ptr<Backend>> EngineBackend::make(const v1::RuntimeOptions& options,
                                                     const RunnerCore::Surroundings& around,
                                                     Extras extras) {
  ERRAND_TRY(auto config, config_of(options, around.handlers, std::move(extras.config)));
  ERRAND_TRY(auto tools, bridge_tools(around.handlers, options.tools, options.toolkits));
  std::unique_ptr<EngineBackend> made(new EngineBackend(around, extras.absence));
  for (ToolPtr& tool : tools) made->tools_.add(std::move(tool));
  ERRAND_TRY(made->host_, OwnHost::open({.io = around.io,
                                         .config = std::move(config),
                                         .data = options.data,
                                         .program = &made->tools_,
                                         .joins_any_room = extras.joins_any_room,
                                         .log_fd = extras.log_fd,
                                         .clock = clock_of(options)}));
  made->host_->start();
  return std::unique_ptr<Backend>(std::move(made));
}

}  // namespace errand::sdk
