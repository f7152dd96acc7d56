#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "tool/builtin/approval.hpp"
#include "tool/tool.hpp"

namespace errand {

struct ShellOptions {
  std::string directory;                 // where commands run
  std::vector<std::string> environment;  // "NAME=value"; those that hold secrets are not passed on
  milliseconds grace = seconds(2);       // from SIGTERM to SIGKILL
};

// `shell {command, timeoutSeconds?}`: runs a command with /bin/sh, if the user agrees. It reads
// nothing, has no terminal, and whatever it started ends with it, save what makes a session of its
// own. A call that is cancelled ends its command. This guards against mistakes of a model, not
// against malice: a command that is approved may do what this process may.
class ShellTool final : public Tool {
 public:
  static constexpr std::size_t kCommandBytesMax = 20'000;  // longer ones are refused
  static constexpr int kDefaultSeconds = 60;
  static constexpr int kSecondsMax = 600;
  static constexpr milliseconds kDecisionMax = std::chrono::hours(1);  // for the user who approves

  ShellTool(ShellOptions options, Approver& approver);

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;

 private:
  Task<ToolOutcome> run(std::string command, seconds limit) const;

  const ShellOptions options_;
  Approver& approver_;
  const ToolDecl decl_;
};

}  // namespace errand
