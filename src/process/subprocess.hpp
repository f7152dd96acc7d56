#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand::process {

struct ProcessOptions {
  enum class Input : std::uint8_t { none, open };  // none: /dev/null
  // Where standard error goes. apart: to Subprocess::errors().
  enum class Errors : std::uint8_t { with_output, inherited, apart };

  // The program and its arguments. A name without a slash is looked up in the PATH of
  // `environment`, of which only absolute folders count.
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value", and nothing besides
  std::string directory;                 // empty: that of this process
  Input input = Input::none;
  Errors errors = Errors::with_output;
  milliseconds patience = milliseconds(0);  // of stop(): from the end of the input to SIGTERM
  milliseconds grace = seconds(2);          // from SIGTERM to SIGKILL
};

// How a process ended: by itself, or by a signal.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // 0 if it ended by itself

  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;
};

struct ProcessEvent {
  enum class Kind : std::uint8_t { output, ended, timed_out };

  Kind kind = Kind::ended;
  std::string output = {};
};

// A program in a session and a process group of its own, so that whatever it starts ends with it:
// the group is killed when the program ends, save what has left the group. Lives on one home.
// Destroying one that still runs ends its group as stop() does, or at once when the home's loop is
// destroyed.
class Subprocess final {
 public:
  static constexpr std::size_t kReadBytes = 64U * 1024;
  static constexpr std::size_t kErrorsBytesMax = 16U * 1024;  // beyond, the oldest are dropped
  static constexpr std::size_t kQueuedBytesMax = 32U * 1024 * 1024;  // beyond, send() refuses

  // unavailable: the program cannot be started; the message says why. not_found: no folder of PATH
  // has an executable file of that name.
  static Result<std::unique_ptr<Subprocess>> spawn(const Executor& home,
                                                   const ProcessOptions& options);
  // Kills every program of this process and its group, for one that leaves at once. Any thread.
  static void kill_all();
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  // The next bytes of the output, at most kReadBytes; or the end of the program, after everything
  // that it has written itself, even if another process still holds its output open. One waiter at
  // a time.
  Task<ProcessEvent> next(SteadyTime deadline);
  // Once next() has said that the program has ended, or stop() has returned.
  ProcessEnd end() const;

  // Returns once everything is in the pipe. unavailable: the program no longer reads.
  Task<Result<void>> write(const std::string* bytes);
  // Queues bytes, which are written whole and in order while the program reads. Not together with
  // write(). too_large: kQueuedBytesMax are waiting already. unavailable: the input is closed.
  Result<void> send(std::string bytes);
  void close_input();

  // The last bytes of a standard error that is kept apart.
  std::string_view errors() const;

  // Closes the input, asks the group to end (SIGTERM) after the patience, kills what is left of it
  // after the grace, and returns when it is over. Output is thrown away meanwhile.
  Task<void> stop();
  // Begins what stop() does, without waiting for it.
  void begin_stop();

 private:
  struct State;  // with the handlers that outlive a Subprocess
  explicit Subprocess(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace errand::process
