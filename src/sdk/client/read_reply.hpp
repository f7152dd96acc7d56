#pragma once

#include <utility>

#include <errand/run.hpp>

#include "base/result.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/client/event_queue.hpp"

namespace errand::sdk {

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw public_error(result.error());
  return std::move(result).value();
}

// Reads the events of a run to its end. The error says why there is no end, or that it is none
// that was hoped for.
v1::Result<v1::Reply> read_reply(EventQueue& events);

}  // namespace errand::sdk
