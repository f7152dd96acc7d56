#include "engine/children/child_reports.hpp"

#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "run/log/event.hpp"
#include "store/segment_events.hpp"

namespace errand::engine {
namespace {

// What the caller is told about an event of the called run; empty: nothing.
std::string report_of(const Event& event) {
  if (const auto* said = std::get_if<AssistantMessage>(&event)) {
    // The last message is the result and is not reported as well.
    return said->calls.empty() ? "" : said->text;
  }
  if (const auto* call = std::get_if<ToolCallStarted>(&event)) return cat("calls ", call->name);
  if (const auto* call = std::get_if<LocalToolCall>(&event)) {
    return cat("waits for a client to run ", call->name);
  }
  return {};
}

// Streamed text is most of a log, and is skipped without parsing it.
bool may_be_reported(std::string_view line) {
  constexpr std::string_view kType = R"("type":")";
  line = line.substr(0, 64);
  std::size_t at = line.find(kType);
  if (at == std::string_view::npos) return false;
  std::string_view type = line.substr(at + kType.size());
  return type.starts_with("assistant_message\"") || type.starts_with("tool_call\"") ||
         type.starts_with("local_tool_call\"");
}

}  // namespace

std::vector<std::string> child_reports(const Segment& segment, EventSeq after) {
  std::vector<std::string> reports;
  auto add = [&reports](const Event& event) {
    std::string text = report_of(event);
    if (!text.empty()) reports.push_back(std::move(text));
  };
  if (!segment.typed.empty()) {
    for (const StampedEvent& stamped : segment.typed) {
      if (stamped.seq > after) add(stamped.event);
    }
    return reports;
  }
  for_each_event(segment, after, [&add](std::string_view line) {
    if (!may_be_reported(line)) return;
    if (auto stamped = parse_event(line)) add(stamped->event);
  });
  return reports;
}

}  // namespace errand::engine
