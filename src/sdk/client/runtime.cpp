#include <errand/runtime.hpp>
#include <utility>

#include "sdk/bridge/public_error.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/engine_backend.hpp"

namespace errand::v1 {
namespace {

std::shared_ptr<sdk::RunnerCore> make_core(const RuntimeOptions& options) {
  auto core = std::make_shared<sdk::RunnerCore>(
      sdk::RunnerCore::Options{.handlers = options.handlers, .now = options.now});
  auto opened = core->open([&](const sdk::RunnerCore::Surroundings& around) {
    return sdk::EngineBackend::make(options, around, {});
  });
  if (!opened) throw sdk::public_error(opened.error());
  return core;
}

sdk::ProgramTools& tools_of(sdk::RunnerCore& core) {
  return static_cast<sdk::EngineBackend&>(core.backend()).tools();
}

void register_tools(sdk::RunnerCore& core, const std::vector<ToolPtr>& tools) {
  auto registered = core.ask<bool>([&core, &tools] {
    for (const ToolPtr& tool : tools) tools_of(core).add(tool);
    return true;
  });
  if (!registered) throw sdk::public_error(registered.error());
}

}  // namespace

Runtime::Runtime(RuntimeOptions options) : Runner(make_core(options)) {}

Runtime::~Runtime() = default;

void Runtime::add(const Tool& tool) const {
  register_tools(*core_, {sdk::bridge_tool(core_->handlers(), tool)});
}

void Runtime::add(const Toolkit& toolkit) const {
  register_tools(*core_, sdk::bridge_toolkit(core_->handlers(), toolkit));
}

std::vector<std::string> Runtime::missing_tools() const {
  auto missing = core_->ask<std::vector<std::string>>(
      [core = core_.get()] { return tools_of(*core).missing(); });
  if (!missing) throw sdk::public_error(missing.error());
  return *std::move(missing);
}

}  // namespace errand::v1
