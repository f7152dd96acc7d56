#include "base/error.hpp"

#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"

namespace errand {

void assertion_failed(const char* condition, const char* file, int line) {
  throw AssertionFailed(cat(file, ":", line, ": assertion failed: ", condition));
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::unauthorized: return "unauthorized";
    case ErrorCode::forbidden: return "forbidden";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::too_large: return "too_large";
    case ErrorCode::rate_limited: return "rate_limited";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::outcome_unknown: return "outcome_unknown";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

struct Error::Fields {
  ErrorCode code;
  std::string message;
  std::string reason;
  std::string pointer;
  std::string hint;
  std::string limit;
  std::int64_t max = 0;
  std::vector<std::string> candidates;
};

Error::Error(ErrorCode code, std::string message)
    : fields_(new Fields{.code = code, .message = std::move(message)}) {}

Error::Error(const Error& other) : fields_(new Fields(*other.fields_)) {}

Error& Error::operator=(const Error& other) {
  if (this != &other) fields_ = std::make_unique<Fields>(*other.fields_);
  return *this;
}

Error::Error(Error&&) noexcept = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

Error&& Error::reason(std::string_view value) && {
  fields_->reason = value;
  return std::move(*this);
}

Error&& Error::pointer(std::string_view value) && {
  fields_->pointer = value;
  return std::move(*this);
}

Error&& Error::hint(std::string_view value) && {
  fields_->hint = value;
  return std::move(*this);
}

Error&& Error::limit(std::string_view name, std::int64_t max) && {
  fields_->limit = name;
  fields_->max = max;
  return std::move(*this);
}

Error&& Error::candidates(std::vector<std::string> values) && {
  fields_->candidates = std::move(values);
  return std::move(*this);
}

ErrorCode Error::code() const {
  return fields_->code;
}
const std::string& Error::message() const {
  return fields_->message;
}
const std::string& Error::reason() const {
  return fields_->reason;
}
const std::string& Error::pointer() const {
  return fields_->pointer;
}
const std::string& Error::hint() const {
  return fields_->hint;
}
const std::string& Error::limit() const {
  return fields_->limit;
}
std::int64_t Error::max() const {
  return fields_->max;
}
const std::vector<std::string>& Error::candidates() const {
  return fields_->candidates;
}

std::string Error::describe() const {
  if (fields_->pointer.empty()) return fields_->message;
  return cat(fields_->message, " (at ", fields_->pointer, ")");
}

}  // namespace errand
