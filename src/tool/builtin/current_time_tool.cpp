#include "tool/builtin/current_time_tool.hpp"

#include <absl/time/time.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"

namespace errand {
namespace {

constexpr std::size_t kZoneBytesMax = 64;

ToolDecl current_time_decl() {
  json::Object zone = {{"type", "string"},
                       {"maxLength", kZoneBytesMax},
                       {"description", "Such as Europe/Berlin; UTC if left out"}};
  return {.name = "current_time",
          .title = "Current time",
          .description = "Tell the current date, time and weekday.",
          .input_schema = share_schema({{"type", "object"},
                                        {"properties", json::Object{{"timezone", std::move(zone)}}},
                                        {"additionalProperties", false}}),
          .site = ToolSite::host,
          .annotations = {.read_only = true, .idempotent = true}};
}

// The time zone database is a folder of files, which a name must not lead out of.
bool is_zone_name(std::string_view name) {
  bool is_plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
           c == '_' || c == '-' || c == '+';
  });
  return is_plain && !name.empty() && name.size() <= kZoneBytesMax && name.front() != '/';
}

}  // namespace

CurrentTimeTool::CurrentTimeTool(const Clock& clock) : clock_(clock), decl_(current_time_decl()) {}

Task<ToolOutcome> CurrentTimeTool::invoke(ToolCall call, ToolContext) {
  json::Value arguments = std::move(call.arguments);
  json::Fields in(arguments, "");
  std::string name = in.optional_text("timezone").value_or("UTC");
  auto checked = in.finish();
  if (!checked) co_return failed_outcome(checked.error().describe());
  absl::TimeZone zone;
  if (!is_zone_name(name) || !absl::LoadTimeZone(name, &zone)) {
    co_return failed_outcome(cat("\"", utf8_prefix(name, kZoneBytesMax),
                                 "\" is not a time zone: use a name such as Europe/Berlin, "
                                 "America/New_York, Asia/Tokyo or UTC"));
  }
  absl::Time now = absl::FromUnixMillis(to_millis(clock_.now()));
  co_return text_outcome(cat(absl::FormatTime("%Y-%m-%dT%H:%M:%S%Ez, %A", now, zone), ", ", name));
}

}  // namespace errand
