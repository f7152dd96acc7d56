#pragma once

#include <string>

#include "async/task.hpp"
#include "json/value.hpp"
#include "run/ids.hpp"
#include "run/tool_decl.hpp"

namespace errand {

// One call of a tool. `id` is the same on every attempt, so that it can serve as idempotency key.
struct ToolCall {
  RunId run;
  ToolUseId id;
  json::Object arguments;
};

// What the model is told. A failure is data for the model, not an Error.
struct ToolOutcome {
  bool ok = true;
  std::string text;
};

// A tool that runs in this process. Lives on the engine's home and outlives every run.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual const ToolDecl& decl() const = 0;
  virtual Task<ToolOutcome> invoke(ToolCall call) = 0;
};

// The tools of this process by name; nullptr if there is none.
class ToolRegistry {
 public:
  virtual ~ToolRegistry() = default;
  virtual Tool* find(std::string_view name) = 0;
};

}  // namespace errand
