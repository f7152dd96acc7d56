#pragma once

#include <unistd.h>

#include <memory>
#include <optional>

#include <errand/runtime.hpp>

#include "sdk/client/program_tools.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/embedded/own_host.hpp"

namespace errand::sdk {

// The runs of an engine in this process. Lives on the runner's home.
class EngineBackend final : public Backend {
 public:
  // What commands ask for besides.
  struct Extras {
    std::optional<host::Config> config = {};  // in place of the file that the options name
    ProgramTools::Absence absence = ProgramTools::Absence::waits;
    bool joins_any_room = false;
    int log_fd = STDERR_FILENO;
  };

  // See v1::Runtime.
  static Result<std::unique_ptr<Backend>> make(const v1::RuntimeOptions& options,
                                               const RunnerCore::Surroundings& around,
                                               Extras extras);

  RunApi& api() override { return host_->api(); }
  CalledBy called_by() const override { return CalledBy::engine; }
  LentTools lend(const std::vector<ToolPtr>& tools,
                 const std::vector<ToolRef>& /*servers*/) override {
    return tools_.lend(tools);
  }
  Task<void> stop() override { return host_->stop(); }

  ProgramTools& tools() { return tools_; }

 private:
  EngineBackend(const RunnerCore::Surroundings& around, ProgramTools::Absence absence);

  ProgramTools tools_;
  std::unique_ptr<OwnHost> host_;
};

}  // namespace errand::sdk
