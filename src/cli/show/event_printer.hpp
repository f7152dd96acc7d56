#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/terminal/piece.hpp"
#include "cli/terminal/terminal.hpp"
#include "run/ids.hpp"
#include "run/log/event.hpp"

namespace errand::cli {

// Of the name of a tool; the rest is cut off.
constexpr std::size_t kShownNameChars = 64;

enum class Form { text, json };

// What of the model's text goes to stdout: all of it as it comes, or the answer of a run that
// succeeded alone, in one piece.
enum class Answer { streamed, final };

// Shows the events of runs, one after the other. What the model says goes to stdout as it comes;
// everything else to stderr, on lines that are not shared with that text.
class EventPrinter {
 public:
  virtual ~EventPrinter() = default;

  // The events that follow are those of this run.
  virtual void begin(const RunId&) {}
  // `took` is how long the tool ran whose result the event is, if that is known.
  virtual Pieces show(const StampedEvent& event, std::optional<milliseconds> took) = 0;
  // Ends an open line; when no more events come.
  virtual Pieces finish() = 0;
  // A line of our own on stderr that leaves stdout as it is.
  Pieces note(std::string_view text);
  // A line of a log on stderr, as it is. What was being typed in the same row is not left there.
  Pieces log_line(std::string_view line);
  // What makes room for a question on the terminal, which is not ours to change afterwards.
  virtual Pieces make_room() = 0;
  // Why there is no run to show, or no more of it.
  virtual Pieces failure(const Error& error);
  // How a run ended whose last event was shown.
  virtual Pieces bad_end(const Error& error) { return failure(error); }
  // A line of our own on stderr that is less important than the rest, such as what the run took.
  virtual Pieces aside(std::string_view text) = 0;
  // Whether a silent run is shown to wait, by a tick() every WaitLine::kTick.
  virtual bool shows_waiting() const { return false; }
  virtual Pieces tick() { return {}; }
  // The model of the run is asked again after a pause, because of this.
  virtual void retrying(std::string_view, milliseconds) {}

 private:
  // What clears the row in which a line is to stand.
  virtual std::string_view line_start() const { return ""; }
};

std::unique_ptr<EventPrinter> make_printer(Form form, Look look, Answer answer = Answer::streamed);

// What printers for people show of events, each in its way. A tool of the server is shown like one
// of this process.
class TextPrinter : public EventPrinter {
 public:
  explicit TextPrinter(Answer answer) : answer_(answer) {}

  Pieces show(const StampedEvent& event, std::optional<milliseconds> took) final;

 private:
  // Continues the text of a stream.
  virtual Pieces stream(Piece::To to, std::string_view text) = 0;
  virtual Pieces show_call(const LocalToolCall& call) = 0;
  virtual Pieces show_result(const LocalToolResultIn& result, std::optional<milliseconds> took) = 0;
  virtual Pieces show_line(std::string_view text) = 0;
  Pieces show_end(const ResultEvent& end);

  const Answer answer_;
};

// "850 ms", "3.4 s", "2 min 05 s".
std::string shown_duration(milliseconds took);

// Which of the two streams is in the middle of a line.
class OpenLine final {
 public:
  // The pieces that continue the text of a stream, on a line of its own; `text` is clean, and
  // `styled` is the same as it is to be written.
  Pieces continue_with(Piece::To to, std::string_view text, std::string styled);
  // Moves the cursor to the start of a line and leaves stdout as it is.
  Pieces step_aside();
  Pieces close();
  bool is_open() const { return to_.has_value(); }
  bool is_open(Piece::To to) const { return to_ == to; }

 private:
  std::optional<Piece::To> to_;
};

}  // namespace errand::cli
