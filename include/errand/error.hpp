#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <errand/detail/version.hpp>

namespace errand::ERRAND_V1 {

// The closed set of ways in which a call can fail.
enum class ErrorCode : std::uint8_t {
  invalid_argument,  // the caller's input is wrong; pointer() says where
  unauthorized,      // no credential, or a wrong one
  forbidden,         // a valid credential without this right
  not_found,
  conflict,      // the object is not in the state that the call needs
  too_large,     // a size limit
  rate_limited,  // a rate limit
  unsupported,   // understood, but not offered
  timeout,
  unavailable,      // the environment fails at the moment; a retry may help
  outcome_unknown,  // the effect may or may not have happened: read the state before a retry
  cancelled,
  internal,  // a bug
};

std::string_view to_string(ErrorCode code);

// What an error knows beside its code and its message. Empty texts where there is nothing to say.
struct ErrorDetails {
  std::string reason = {};  // a stable word, finer than the code: "unreachable", "run_failed"
  std::string hint = {};    // what to do about it, for people
  std::string run_id = {};  // of the run that it is about
  std::string text = {};    // what the model answered, if the answer is the problem
};

// What went wrong: the error of a Result, and what throwing calls throw.
class Error : public std::runtime_error {
 public:
  // `pointer` is a JSON pointer into the caller's input ("/days").
  Error(ErrorCode code, const std::string& message, std::string pointer = {});
  Error(ErrorCode code, const std::string& message, std::string pointer, ErrorDetails details);
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;

  ErrorCode code() const { return code_; }
  std::string_view message() const { return what(); }
  const std::string& pointer() const { return pointer_; }

  const std::string& reason() const { return details().reason; }
  const std::string& hint() const { return details().hint; }
  const std::string& run_id() const { return details().run_id; }
  const std::string& text() const { return details().text; }
  const ErrorDetails& details() const;

  // "/days: expected an integer, got a string".
  std::string describe() const;

 private:
  ErrorCode code_;
  std::string pointer_;
  std::shared_ptr<const ErrorDetails> details_;  // null: nothing is known
};

// A value or an Error, shaped like std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  // Throws the Error if there is no value.
  T& value() & {
    check();
    return *value_;
  }
  const T& value() const& {
    check();
    return *value_;
  }
  T value() && {
    check();
    return std::move(*value_);
  }

  // Undefined without a value, as in std::expected.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  // Undefined with a value.
  const Error& error() const { return *error_; }

 private:
  void check() const {
    if (!value_) throw *error_;
  }

  std::optional<T> value_;
  std::optional<Error> error_;
};

}  // namespace errand::ERRAND_V1
