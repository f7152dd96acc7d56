#pragma once

#include <memory>
#include <string>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "room/wire/framing.hpp"

namespace errand::room {

// A participant's connection to a room, in whole messages. Lives on one home.
class Connection {
 public:
  // The reason of an error with which the room has sent the participant away for good.
  static constexpr std::string_view kDismissed = "dismissed";

  virtual ~Connection() = default;
  // The next message. One reader at a time. An error says how the connection ended; with the reason
  // kDismissed the participant must not come back by itself.
  virtual Task<Result<Message>> read() = 0;
  // Queues a message. Nothing happens once the connection is over.
  virtual void send(const Message& message) = 0;
  // Ends the connection, and with it a read that is under way.
  virtual void close() = 0;
  // Returns once the connection is over. No read may be under way.
  virtual Task<void> finish() = 0;
};

// Opens connections to one room, each time with the same token.
class Connector {
 public:
  virtual ~Connector() = default;
  // Ends early when the interrupt, which outlives the task, is raised. forbidden, not_found,
  // invalid_argument: trying again is of no use.
  virtual Task<Result<std::shared_ptr<Connection>>> connect(Interrupt* interrupt) = 0;
};

}  // namespace errand::room
