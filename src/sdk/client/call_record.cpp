// Records the calls of tools, for users' tests.
#include <errand/testing.hpp>

#include <mutex>
#include <utility>

namespace errand::v1 {

struct CallRecord::State {
  std::mutex mutex;
  std::vector<RecordedCall> calls;
};

CallRecord::CallRecord() : state_(std::make_shared<State>()) {}

std::vector<RecordedCall> CallRecord::calls() const {
  std::lock_guard lock(state_->mutex);
  return state_->calls;
}

// Calls whose arguments do not fit the schema are not recorded.
Tool CallRecord::watch(const Tool& inner) const {
  ToolOptions options = inner.options();
  if (const Json* output = inner.output_schema()) options.output_schema = *output;
  auto call = [state = state_, inner](ToolContext& context, const Json& arguments) {
    ToolResult result = inner.call(context, arguments);
    std::lock_guard lock(state->mutex);
    state->calls.push_back(
        {.tool = inner.name(), .arguments = arguments, .ok = result.ok(), .text = result.text()});
    return result;
  };
  return tool(inner.name(), inner.description(), inner.input_schema(), call, std::move(options));
}

Toolkit CallRecord::watch(const Toolkit& toolkit) const {
  ToolkitOptions options{.name = toolkit.name(),
                         .title = toolkit.title(),
                         .description = toolkit.description(),
                         .version = toolkit.version(),
                         .thumbnail_url = toolkit.thumbnail_url(),
                         .rules = toolkit.rules(),
                         .defs = toolkit.defs(),
                         .validation = toolkit.validation(),
                         .is_public = toolkit.is_public()};
  for (const Tool& tool : toolkit.tools()) options.tools.push_back(watch(tool));
  return Toolkit(std::move(options));
}

}  // namespace errand::v1
