#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "run/tool_set.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// The tools that this process lends to a run. Lives on one home.
class Toolbox final : public ToolRegistry {
 public:
  explicit Toolbox(std::vector<std::unique_ptr<Tool>> tools);

  Tool* find(std::string_view name) override;

  // As a run takes them: tools that its client answers for.
  const ToolSetPtr& declared() const { return declared_; }
  const std::vector<std::unique_ptr<Tool>>& tools() const { return tools_; }

 private:
  const std::vector<std::unique_ptr<Tool>> tools_;
  const ToolSetPtr declared_;
};

}  // namespace errand::sdk
