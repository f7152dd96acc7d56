#include "cli/doctor/findings.hpp"

#include <algorithm>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

using Level = Finding::Level;

constexpr std::size_t kSentenceChars = 1000;

std::string_view mark_of(Level level) {
  switch (level) {
    case Level::well: return "✓";
    case Level::warning: return "!";
    case Level::wrong: return "✗";
  }
  return "?";
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::well: return "ok";
    case Level::warning: return "warning";
    case Level::wrong: return "error";
  }
  return "error";
}

std::string render_json(const Findings& findings) {
  json::Array checks;
  for (const Finding& finding : findings) {
    json::Object one{{"subject", finding.subject},
                     {"status", name_of(finding.level)},
                     {"message", finding.message}};
    one["next"] = finding.next.empty() ? json::Value() : json::Value(finding.next);
    checks.push_back(std::move(one));
  }
  json::Object report{{"ok", is_all_well(findings)}, {"checks", std::move(checks)}};
  return escape_json_controls(json::write(report)) + "\n";
}

std::string render_text(const Findings& findings) {
  std::string out;
  std::size_t wrong = 0;
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    wrong += finding.level == Level::wrong ? 1 : 0;
    warnings += finding.level == Level::warning ? 1 : 0;
    append(out, mark_of(finding.level), " ", clean_line(finding.subject, kSentenceChars), ": ",
           clean_line(finding.message, kSentenceChars), "\n");
    if (!finding.next.empty()) append(out, "  ", clean_line(finding.next, kSentenceChars), "\n");
  }
  if (wrong + warnings == 0) return out + "All is well.\n";
  append(out, wrong, " wrong, ", warnings, warnings == 1 ? " warning\n" : " warnings\n");
  return out;
}

}  // namespace

bool is_all_well(const Findings& findings) {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& one) { return one.level == Level::wrong; });
}

std::string render(const Findings& findings, Form form) {
  return form == Form::json ? render_json(findings) : render_text(findings);
}

}  // namespace errand::cli
