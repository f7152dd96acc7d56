#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace errand {

// A value that is nearly always absent, used like std::optional. Absent, it takes one pointer
// instead of the room for the value; present, a piece of memory of its own.
template <class T>
class Sparse final {
 public:
  Sparse() = default;
  Sparse(std::nullopt_t) {}
  Sparse(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Sparse(std::optional<T> value) {
    if (value) value_ = std::make_unique<T>(*std::move(value));
  }
  Sparse(const Sparse& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Sparse(Sparse&&) noexcept = default;
  // A copy is made before the old value goes, so that a part of it may be assigned.
  Sparse& operator=(const Sparse& other) { return *this = Sparse(other); }
  Sparse& operator=(Sparse&&) noexcept = default;
  // Also of a value in braces.
  template <class U = T>
    requires std::same_as<std::remove_cvref_t<U>, T>
  Sparse& operator=(U&& value) {
    return *this = Sparse(T(std::forward<U>(value)));
  }
  ~Sparse() = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }

  // Only of a value that is there.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

  void reset() { value_.reset(); }

  friend bool operator==(const Sparse& a, const Sparse& b) {
    return a && b ? *a == *b : a.has_value() == b.has_value();
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace errand
