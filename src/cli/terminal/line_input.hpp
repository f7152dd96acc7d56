#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "async/task.hpp"
#include "base/result.hpp"

namespace errand::cli {

// Something that came of asking for a line.
struct InputLine {
  enum class Kind { text, interrupted, ended };
  Kind kind = Kind::text;
  std::string text = {};  // without its end; what was typed before an interruption

  friend bool operator==(const InputLine&, const InputLine&) = default;
};

// Lines that a user enters. Lives on one home, which never waits for the user's keys: that is done
// on a thread of its own.
class LineInput {
 public:
  virtual ~LineInput() = default;

  // The next line. One at a time; to be interrupted before the input is destroyed.
  // invalid_argument: the line is too long. unavailable: it cannot be read.
  virtual Task<Result<InputLine>> read(std::string prompt) = 0;
  // Ends the read that goes on, if any, with interrupted.
  virtual void interrupt() = 0;
  // The terminal has another size, or others have written to it: the line being edited is drawn
  // again.
  virtual void redraw() = 0;
  // Keeps a line for the user to go back to.
  virtual void remember(std::string_view line) = 0;
};

}  // namespace errand::cli
