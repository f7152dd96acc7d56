#include "cli/event_printer.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "cli/terminal_text.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownNameChars = 64;
constexpr std::size_t kShownArgumentsChars = 160;
constexpr std::size_t kShownErrorChars = 300;

std::string count_lines(std::string_view text) {
  if (text.empty()) return "empty";
  auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  return cat(lines, lines == 1 ? " line" : " lines");
}

std::string name_of(const RunEvent& event) {
  return clean_line(event.text("name"), kShownNameChars);
}

std::string call_line(const RunEvent& event) {
  const char* key = event.type == "local_tool_call" ? "args" : "input";
  const json::Value* arguments = event.fields.if_contains(key);
  std::string shown = arguments ? json::write(*arguments) : "";
  return cat("-> ", name_of(event), " ", clean_line(shown, kShownArgumentsChars));
}

bool has_failed(const RunEvent& event) {
  const json::Value* ok = event.fields.if_contains("ok");
  return event.fields.contains("error") || (ok && ok->is_bool() && !ok->get_bool());
}

std::string result_line(const RunEvent& event, std::optional<milliseconds> took) {
  std::string out = cat("<- ", name_of(event), " ");
  if (has_failed(event)) {
    std::string_view why = event.text("error");
    append(out, "failed: ", clean_line(why.empty() ? event.text("result") : why, kShownErrorChars));
    return out;
  }
  if (const json::Value* bytes = event.fields.if_contains("fullLength");
      bytes && bytes->is_int64()) {
    append(out, bytes->get_int64(), " bytes");
  } else {
    out += count_lines(event.text("result"));
  }
  if (took) append(out, ", ", took->count(), " ms");
  return out;
}

}  // namespace

Pieces EventPrinter::show(const RunEvent& event, std::optional<milliseconds> took) {
  if (form_ == Form::text) return show_text(event, took);
  std::string line;
  json::write(line, event.fields);
  return {{.to = Piece::To::out, .text = escape_json_controls(line) + "\n"}};
}

Pieces EventPrinter::show_text(const RunEvent& event, std::optional<milliseconds> took) {
  if (event.type == "assistant_delta") {
    std::string text = clean_text(event.text("text"));
    if (text.empty()) return {};
    is_line_open_ = !text.ends_with('\n');
    return {{.to = Piece::To::out, .text = std::move(text)}};
  }
  if (event.type == "assistant_message") return finish();
  if (event.type == "local_tool_call" || event.type == "tool_call") return line(call_line(event));
  if (event.type == "local_tool_result_in" || event.type == "tool_result") {
    return line(result_line(event, took));
  }
  if (event.type == "turn_restarted") {
    return line("errand: the model broke off; what it said since its last tool call starts again");
  }
  return {};
}

Pieces EventPrinter::line(std::string text) {
  Pieces pieces = finish();
  pieces.push_back({.to = Piece::To::err, .text = std::move(text) + "\n"});
  return pieces;
}

Pieces EventPrinter::finish() {
  if (!std::exchange(is_line_open_, false)) return {};
  return {{.to = Piece::To::out, .text = "\n"}};
}

Pieces EventPrinter::note(std::string_view text) const {
  return {{.to = Piece::To::err,
           .text = cat(is_line_open_ ? "\n" : "", "errand: ", clean_text(text), "\n")}};
}

}  // namespace errand::cli
