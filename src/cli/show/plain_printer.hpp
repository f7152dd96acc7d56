#pragma once

#include "cli/show/event_printer.hpp"

namespace errand::cli {

// Lines for files, pipes and simple terminals: one for each call of a tool and one for each result.
class PlainPrinter final : public EventPrinter {
 public:
  Pieces show(const sdk::RunEvent& event, std::optional<milliseconds> took) override;
  Pieces finish() override { return open_.close(); }
  Pieces note(std::string_view text) override;
  Pieces log_line(std::string_view line) override;
  Pieces make_room() override;
  Pieces aside(std::string_view text) override;

 private:
  Pieces line(std::string text);

  OpenLine open_;
};

}  // namespace errand::cli
