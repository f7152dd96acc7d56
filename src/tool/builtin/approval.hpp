#pragma once

#include <string>

#include "async/task.hpp"
#include "run/ids.hpp"

namespace errand {

// What a call wants to do.
struct ApprovalRequest {
  RunId run;
  ToolUseId call;
  std::string what;          // one line, safe to show: "run ls"
  std::string command = {};  // of a shell, one line, safe to show: "ls"
};

// Asks the user before something is done that cannot be undone.
class Approver {
 public:
  virtual ~Approver() = default;
  // Whether the user lets this be done.
  virtual Task<bool> approve(ApprovalRequest request) = 0;
};

}  // namespace errand
