#pragma once

#include <memory>

#include <errand/runtime.hpp>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "host/host.hpp"
#include "sdk/client/program_tools.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/embedded_api.hpp"

namespace errand::sdk {

// The runs of an engine in this process. Lives on the runner's home.
class EngineBackend final : public Backend {
 public:
  // See v1::Runtime.
  static Result<std::unique_ptr<Backend>> make(const v1::RuntimeOptions& options,
                                               const RunnerCore::Surroundings& around);

  RunApi& api() override { return *api_; }
  CalledBy called_by() const override { return CalledBy::engine; }
  LentTools lend(const std::vector<ToolPtr>& tools) override { return tools_.lend(tools); }
  Task<void> stop() override;

  ProgramTools& tools() { return tools_; }

 private:
  EngineBackend(const RunnerCore::Surroundings& around, std::unique_ptr<const Clock> clock);

  const std::unique_ptr<const Clock> clock_;
  Log log_;
  BlockingPool pool_;
  ProgramTools tools_;
  std::unique_ptr<host::Host> host_;
  std::unique_ptr<EmbeddedApi> api_;
};

}  // namespace errand::sdk
