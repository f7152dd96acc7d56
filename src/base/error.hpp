#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand {

// The closed set of ways in which something can fail. Each surface (HTTP, exit codes, ...) maps it
// in one table of its own.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // what was sent is wrong; `pointer` says where
  unauthorized,      // no credential, or a wrong one
  forbidden,         // a right credential that may not do this
  not_found,
  conflict,      // the thing is not in the state that this needs
  too_large,     // a limit on size was met; `limit` and `max` name it
  rate_limited,  // a limit on pace was met
  unsupported,   // understood, but not something this program does
  timeout,
  unavailable,      // the environment fails at the moment; trying again may help
  outcome_unknown,  // it may or may not have been done: read again before anything else
  cancelled,
  internal,  // a bug
};

std::string_view to_string(ErrorCode code);

// What went wrong, for programs (`code`, `reason`) and for people (`message`, `hint`).
// One pointer wide, so that a Result costs next to nothing in a coroutine frame.
class Error {
 public:
  Error(ErrorCode code, std::string message);
  Error(const Error& other);
  Error& operator=(const Error& other);
  Error(Error&&) noexcept;
  Error& operator=(Error&&) noexcept;
  ~Error();

  // Refinements, for chaining: Error(...).reason("run_terminal").hint("...").
  Error&& reason(std::string_view value) &&;   // stable machine word, finer than the code
  Error&& pointer(std::string_view value) &&;  // JSON pointer into what was sent
  Error&& hint(std::string_view value) &&;     // what to do about it
  Error&& limit(std::string_view name, std::int64_t max) &&;
  Error&& candidates(std::vector<std::string> values) &&;

  ErrorCode code() const;
  const std::string& message() const;
  const std::string& reason() const;
  const std::string& pointer() const;
  const std::string& hint() const;
  const std::string& limit() const;
  std::int64_t max() const;
  const std::vector<std::string>& candidates() const;

  // "message (at /pointer)", for logs and command lines.
  std::string describe() const;

 private:
  struct Fields;
  std::unique_ptr<Fields> fields_;
};

}  // namespace errand
