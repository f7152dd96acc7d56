#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <errand/client.hpp>
#include <errand/model.hpp>
#include <errand/runner.hpp>

namespace errand::ERRAND_V1 {

struct RuntimeModel {
  std::string id = {};
  std::shared_ptr<Model> model = {};
  std::string label = {};  // for people; the id if empty
};

struct RuntimeOptions {
  // The directory in which runs are kept; made if it is not there. Empty: they end with the
  // process.
  std::string data = {};
  // The configuration file with models. Empty: the models of this program alone, or, if it has
  // none, the models of the vendors whose keys are in the environment.
  std::string config = {};
  std::vector<RuntimeModel> models = {};  // in code; the first one is the default
  // Tools that runs of an earlier process go on with. A run's own tools need not be listed.
  std::vector<Tool> tools = {};
  std::vector<Toolkit> toolkits = {};
  HandlerOptions handlers = {};
  // The time of day, for tests that want it to stand still: what runs are stamped with and what
  // `current_time` tells. Called from any thread. Nothing: the machine's clock. Timeouts are
  // measured by a clock of their own, which always goes on.
  std::function<std::chrono::system_clock::time_point()> now = {};
};

// Runs of agents in this process, without a server: with the same calls as a Client. Its tools are
// called directly, and each call is durable before its handler begins. The runs of a process that
// was killed go on as soon as a runtime has their directory. A call whose tool is not registered
// waits for it as long as the tool's timeout allows; a call that may have taken effect before the
// process ended is not made again, unless its tool is idempotent or read_only. Two runtimes in a
// process need two directories.
class Runtime final : public Runner {
 public:
  // Throws an Error: invalid_argument for a wrong configuration or directory, conflict if another
  // process has the directory.
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();

  // Registers a tool for runs of an earlier process. Replaces one of the same name.
  void add(const Tool& tool) const;
  void add(const Toolkit& toolkit) const;
  // The tools that calls wait for, because they are not registered.
  std::vector<std::string> missing_tools() const;
};

}  // namespace errand::ERRAND_V1
