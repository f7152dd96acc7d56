#pragma once

#include <memory>

#include <errand/runtime.hpp>

#include "sdk/client/program_tools.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/own_host.hpp"

namespace errand::sdk {

// The runs of an engine in this process. Lives on the runner's home.
class EngineBackend final : public Backend {
 public:
  // See v1::Runtime.
  static Result<std::unique_ptr<Backend>> make(const v1::RuntimeOptions& options,
                                               const RunnerCore::Surroundings& around);

  RunApi& api() override { return host_->api(); }
  CalledBy called_by() const override { return CalledBy::engine; }
  LentTools lend(const std::vector<ToolPtr>& tools,
                 const std::vector<ToolRef>& /*servers*/) override {
    return tools_.lend(tools);
  }
  Task<void> stop() override { return host_->stop(); }

  ProgramTools& tools() { return tools_; }

 private:
  explicit EngineBackend(const RunnerCore::Surroundings& around);

  ProgramTools tools_;
  std::unique_ptr<OwnHost> host_;
};

}  // namespace errand::sdk
