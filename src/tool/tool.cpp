#include "tool/tool.hpp"

#include <utility>

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

ToolOutcome fatal_outcome(std::string text) {
  return outcome_of(ToolOutcome::Kind::fatal, std::move(text));
}

std::string text_of(const ToolOutcome& outcome) {
  return flatten(outcome.content).text;
}

}  // namespace errand
