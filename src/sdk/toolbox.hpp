#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// The tools that this process lends to a run. Lives on one home.
class Toolbox final : public ToolRegistry {
 public:
  explicit Toolbox(std::vector<std::unique_ptr<Tool>> tools);

  Tool* find(std::string_view name) override;

  // As a run takes them under "tools": tools that its client answers for.
  json::Array declarations() const;

 private:
  const std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace errand::sdk
