#pragma once

#include <functional>
#include <string>

#include "async/task.hpp"
#include "base/clock.hpp"

namespace errand::net {

// Where the server-sent events of one response come from, or the bytes of a file. Lives on the
// connection's home; owned by the connection, destroyed when the stream is over.
class EventFeed {
 public:
  enum class State {
    more,   // `frames` holds the ready bytes, and may end within a frame
    idle,   // nothing came until the deadline
    ended,  // `frames` holds the last of it: the body ends cleanly
    broken  // the source failed: the connection is reset, so that the client comes back
  };
  struct Chunk {
    State state = State::more;
    std::string frames;  // ready to send
  };

  virtual ~EventFeed() = default;

  // Waits until something is ready, then takes everything that is ready, up to about
  // kChunkBytesMax; more only if the source gives no less at once. The caller has sent the earlier
  // chunks.
  virtual Task<Chunk> read(SteadyTime deadline) = 0;

  // Makes a pending read return at once with `broken` (the client has left, or shutdown).
  virtual void interrupt() = 0;

  // The client takes nothing at the moment: what can be had again need not be kept in memory.
  virtual void release() {}

  // How the source ends the stream when that cannot wait for the client: the connection is reset,
  // with unsent bytes still in its socket. Called once, before the first read; `reset` may be
  // called for as long as the feed lives.
  virtual void on_cut(std::function<void()> reset) { static_cast<void>(reset); }

  static constexpr std::size_t kChunkBytesMax = 256 * 1024;
};

}  // namespace errand::net
