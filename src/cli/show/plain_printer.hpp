#pragma once

#include "cli/show/event_printer.hpp"

namespace errand::cli {

// Lines for files, pipes and simple terminals: one for each call of a tool and one for each result.
class PlainPrinter final : public TextPrinter {
 public:
  explicit PlainPrinter(Answer answer = Answer::streamed) : TextPrinter(answer) {}

  Pieces finish() override { return open_.close(); }
  Pieces make_room() override { return open_.step_aside(); }
  Pieces aside(std::string_view text) override;

 private:
  Pieces stream(Piece::To to, std::string_view text) override;
  Pieces show_call(const LocalToolCall& call) override;
  Pieces show_result(const LocalToolResultIn& result, std::optional<milliseconds> took) override;
  Pieces show_line(std::string_view text) override;

  OpenLine open_;
};

}  // namespace errand::cli
