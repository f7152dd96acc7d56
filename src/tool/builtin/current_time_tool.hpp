#pragma once

#include "base/clock.hpp"
#include "tool/tool.hpp"

namespace errand {

// `current_time {timezone?}`: date, time and weekday in a time zone of the IANA database, which the
// system keeps in /usr/share/zoneinfo; UTC if none is named.
class CurrentTimeTool final : public Tool {
 public:
  // `clock` outlives the tool.
  explicit CurrentTimeTool(const Clock& clock);

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;
  bool is_instant() const override { return true; }

 private:
  const Clock& clock_;
  const ToolDecl decl_;
};

}  // namespace errand
