#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/show/event_printer.hpp"
#include "cli/show/wait_line.hpp"

namespace errand::cli {

// A part of a line, with the style it has where there is colour.
struct Span {
  enum class Style { plain, dim, good, bad };
  Style style = Style::plain;
  std::string text;  // clean and on one line
};

// Lines on a terminal. The line of a call becomes the line of its result, as long as nothing but
// such lines was written below it and all of them are still where they were written: no line is as
// wide as the terminal, and none has left the screen. Otherwise the result is a new line. While
// the model is silent, the line of the cursor says so, until something else is written.
class TerminalPrinter final : public TextPrinter {
 public:
  explicit TerminalPrinter(Look look, Answer answer = Answer::streamed);

  void begin(const RunId& run) override;
  Pieces finish() override;
  Pieces make_room() override;
  Pieces aside(std::string_view text) override;
  bool shows_waiting() const override { return true; }
  Pieces tick() override;
  void retrying(std::string_view why, milliseconds pause) override;

 private:
  struct Row {
    ToolUseId call;  // one without a result; else empty
    std::size_t width = 0;
  };

  Pieces stream(Piece::To to, std::string_view text) override;
  Pieces show_call(const LocalToolCall& call) override;
  Pieces show_result(const LocalToolResultIn& result, std::optional<milliseconds> took) override;
  Pieces show_line(std::string_view text) override;
  std::string_view line_start() const override;
  // What takes the line of a wait away, before anything else is written.
  Pieces end_wait();
  Pieces add_row(const ToolUseId& call, const std::vector<Span>& spans);
  // How many rows above the cursor the line of this call is; nothing if it cannot be reached.
  std::optional<std::size_t> rows_up_to(const ToolUseId& call, TerminalSize size) const;
  std::string styled(const Span& span) const;
  std::string rendered(const std::vector<Span>& spans, std::size_t columns_max) const;

  const Look look_;
  OpenLine open_;
  std::vector<Row> rows_;  // right above the cursor, which is at the start of an empty line
  std::map<ToolUseId, std::string> labels_;  // of calls without a result
  WaitLine wait_;
  bool is_wait_shown_ = false;  // in the line of the cursor
};

}  // namespace errand::cli
