#pragma once

#include "base/log.hpp"
#include "tool/tool.hpp"

namespace errand {

// Calls a tool, which may be a user's own code: whatever it throws fails the call and nothing else.
// What the exception says goes to `log` and not to the model, because it may tell more than a model
// should know. Neither of them is told the secrets that the call was given. `context.secrets` is
// there, and `log` outlives the task. The task unwinds only if it was cancelled itself: a tool may
// throw the error of an operation that it has cancelled.
Task<ToolOutcome> invoke_safely(ToolPtr tool, ToolCall call, ToolContext context, Log* log);

}  // namespace errand
