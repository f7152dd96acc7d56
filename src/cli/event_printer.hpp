#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "cli/run_event.hpp"

namespace errand::cli {

// Something to write, and where.
struct Piece {
  enum class To { out, err };
  To to = To::out;
  std::string text;

  friend bool operator==(const Piece&, const Piece&) = default;
};
using Pieces = std::vector<Piece>;

enum class Form { text, json };

// Shows the events of one run. As text: what the model says on stdout as it comes, a line for each
// call of a tool and each result on stderr. As JSON: each event as one line on stdout.
// A note never shares its line with the model's text.
class EventPrinter final {
 public:
  explicit EventPrinter(Form form) : form_(form) {}

  // `took` is how long the tool ran whose result the event is, if that is known.
  Pieces show(const RunEvent& event, std::optional<milliseconds> took);
  // Ends an open line; when no more events come.
  Pieces finish();
  // A line on stderr that leaves stdout as it is.
  Pieces note(std::string_view text) const;

 private:
  Pieces show_text(const RunEvent& event, std::optional<milliseconds> took);
  Pieces line(std::string text);

  const Form form_;
  bool is_line_open_ = false;
};

}  // namespace errand::cli
