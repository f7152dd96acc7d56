#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace errand {

// A value or an Error, shaped like std::expected. Reading the wrong side is a bug and asserts.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & {
    ERRAND_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    ERRAND_ASSERT(has_value());
    return *std::get_if<0>(&state_);
  }
  // By value, so that `for (auto& item : list().value())` does not outlive what it walks.
  T value() && {
    ERRAND_ASSERT(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    ERRAND_ASSERT(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    ERRAND_ASSERT(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  void value() const { ERRAND_ASSERT(has_value()); }

  const Error& error() const& {
    ERRAND_ASSERT(!has_value());
    return *error_;
  }
  Error&& error() && {
    ERRAND_ASSERT(!has_value());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace errand

#define ERRAND_CONCAT_(a, b) a##b
#define ERRAND_CONCAT(a, b) ERRAND_CONCAT_(a, b)
#define ERRAND_TRY_(ret, temporary, declaration, expression) \
  auto temporary = (expression);                             \
  if (!temporary) ret std::move(temporary).error();          \
  declaration = std::move(temporary).value()
#define ERRAND_CHECK_(ret, expression) \
  if (auto checked_ = (expression); !checked_) ret std::move(checked_).error()

// Declares a variable from a Result, or returns its Error: ERRAND_TRY(auto run, find(id)).
#define ERRAND_TRY(declaration, expression) \
  ERRAND_TRY_(return, ERRAND_CONCAT(tried_, __COUNTER__), declaration, expression)
#define ERRAND_CO_TRY(declaration, expression) \
  ERRAND_TRY_(co_return, ERRAND_CONCAT(tried_, __COUNTER__), declaration, expression)

// The same for a Result<void>.
#define ERRAND_CHECK(expression) ERRAND_CHECK_(return, expression)
#define ERRAND_CO_CHECK(expression) ERRAND_CHECK_(co_return, expression)
