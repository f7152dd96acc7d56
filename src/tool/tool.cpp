#include "tool/tool.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand {
namespace {

ToolOutcome outcome_of(ToolOutcome::Kind kind, std::string text) {
  ToolOutcome outcome{.kind = kind};
  outcome.content.emplace_back(TextContent{std::move(text)});
  return outcome;
}

}  // namespace

ToolOutcome text_outcome(std::string text) {
  return outcome_of(ToolOutcome::Kind::ok, std::move(text));
}

ToolOutcome failed_outcome(std::string text) {
  return outcome_of(ToolOutcome::Kind::failed, std::move(text));
}

ToolOutcome overdue_outcome(milliseconds limit) {
  std::string shown = limit < seconds(1)
                          ? cat(limit.count(), " ms")
                          : cat(std::chrono::duration_cast<seconds>(limit).count(), " s");
  return failed_outcome(cat("The call took longer than ", shown,
                            " and was cut off. It may or may not have taken effect."));
}

std::string text_of(const ToolOutcome& outcome) {
  return flatten(outcome.content).text;
}

}  // namespace errand
