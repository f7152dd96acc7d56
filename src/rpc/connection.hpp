#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "async/task.hpp"
#include "base/result.hpp"
#include "rpc/message.hpp"

namespace errand::rpc {

// A message on its way out. `text` is all that is sent; the rest is for transports that put parts
// of a message beside it.
struct Outgoing {
  std::string text;
  std::string method = {};            // empty for a response
  std::optional<Id> id = {};          // of a request
  std::optional<Id> answers = {};     // the other side's request that a response is for
  std::optional<Id> belongs_to = {};  // the other side's request that the message came about from
  json::Object params = {};           // of a request
  std::optional<std::int64_t> error_code = {};  // of a response that is an error
};

// A message that is too long to be kept.
struct Oversized {
  std::string head;
  std::string tail;
  std::size_t bytes = 0;
};

// No answer to the request comes any more. outcome_unknown: the peer may have carried it out.
struct Lost {
  Id id;
  Error error;
};

// A message of the peer that belongs to a request of ours, because it came with the answer.
struct Beside {
  Id request;
  std::string text;
};

// A transport that has to read a message anyhow hands it on as it was read.
using Received = std::variant<std::string, Incoming, Beside, Oversized, Lost>;

// Whole messages to and from one peer. Lives on one home. Destroying it closes it.
class Connection {
 public:
  virtual ~Connection() = default;

  // Takes a message to send it whole and in order, without waiting. unavailable: the connection is
  // closed. too_large: too much waits to be sent already.
  virtual Result<void> send(Outgoing message) = 0;
  // The next message; nothing once the peer has closed. One waiter at a time.
  virtual Task<Result<std::optional<Received>>> receive() = 0;
  // Returns once the peer has all that was sent, or the connection is over.
  virtual Task<void> flush() { co_return; }
  // The request has been answered, or its answer is not awaited any more.
  virtual void settled(const Id& /*id*/) {}
  // The other side's request is over without an answer: it was cancelled.
  virtual void dropped(const Id& /*id*/) {}
  // Ends a receive() that waits, and every later call.
  virtual void close() = 0;
  // Returns once nothing of the connection runs any more; after close().
  virtual Task<void> join() = 0;
};

}  // namespace errand::rpc
