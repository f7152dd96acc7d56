#pragma once

#include <string>

#include <errand/error.hpp>

#include "base/error.hpp"
#include "base/result.hpp"

namespace errand::sdk {

// An error as users see it; `run_id` is that of the run that it is about.
v1::Error public_error(const Error& error, std::string run_id = {});

template <class T>
v1::Result<T> public_result(Result<T> result) {
  if (!result) return public_error(result.error());
  return std::move(result).value();
}

}  // namespace errand::sdk
