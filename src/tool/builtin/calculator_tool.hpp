#pragma once

#include "tool/tool.hpp"

namespace errand {

// `calculator {expression}`: the value of an expression; see arithmetic.hpp.
class CalculatorTool final : public Tool {
 public:
  CalculatorTool();

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;
  bool is_instant() const override { return true; }

 private:
  const ToolDecl decl_;
};

}  // namespace errand
