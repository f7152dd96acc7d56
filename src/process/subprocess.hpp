#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace errand::process {

struct ProcessOptions {
  enum class Input : std::uint8_t { none, open };               // none: /dev/null
  enum class Errors : std::uint8_t { with_output, inherited };  // where standard error goes

  std::vector<std::string> command;      // the path of a program, looked up nowhere; its arguments
  std::vector<std::string> environment;  // "NAME=value", and nothing besides
  std::string directory;                 // empty: that of this process
  Input input = Input::none;
  Errors errors = Errors::with_output;
  milliseconds grace = seconds(2);  // from SIGTERM to SIGKILL
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
// Destroying one that still runs asks its group to end (SIGTERM) and kills what is left of it after
// the grace, or when the home's loop is destroyed.
class Subprocess final {
 public:
  static constexpr std::size_t kReadBytes = 64U * 1024;

  // unavailable: the program cannot be started; the message says why.
  static Result<std::unique_ptr<Subprocess>> spawn(const Executor& home,
                                                   const ProcessOptions& options);
  ~Subprocess();
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  // The next bytes of the output, at most kReadBytes; or the end of the program, after all that it
  // has written itself, whoever still holds its output open. One waiter at a time.
  Task<ProcessEvent> next(SteadyTime deadline);
  // Once next() has said that the program has ended, or stop() has returned.
  ProcessEnd end() const;

  // Returns once everything is in the pipe. unavailable: the program no longer reads.
  Task<Result<void>> write(const std::string* bytes);
  void close_input();

  // Asks the group to end, kills what is left of it after the grace, and returns when it is over.
  // Output is thrown away meanwhile.
  Task<void> stop();

 private:
  struct State;  // with the handlers that outlive a Subprocess
  explicit Subprocess(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace errand::process
