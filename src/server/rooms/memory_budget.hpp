#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

#include "net/websocket.hpp"

namespace errand::server {

// What the participants of all rooms of a process may hold together, with what happens at it.
struct MemoryLimits {
  // Of messages that have begun and not ended: the connection whose message began first is closed.
  // As much as eight messages of the largest size.
  std::size_t half_bytes_max = 64U * 1024 * 1024;
  // Of messages that are not read, apart from what connections share: the connection with the most
  // of them is dropped. The search for it is repeated after this many more bytes.
  std::size_t unread_bytes_max = 128U * 1024 * 1024;
  std::size_t look_every_bytes = 16U * 1024 * 1024;
};

// Counts the bytes that connections of participants hold, and ends connections that hold too much.
// Each connection is bounded by itself, too; one token can open many. Lives on the engine's home,
// and outlives the seats.
class MemoryBudget final {
 public:
  explicit MemoryBudget(MemoryLimits limits = {}) : limits_(limits) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // One connection.
  class Seat final {
   public:
    Seat(MemoryBudget& budget, std::shared_ptr<net::WebSocket> socket);
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    // Says how many bytes of an unfinished message have arrived; 0: there is none. May end this
    // connection or another one.
    void hold(std::size_t bytes);
    // A message was queued for this connection alone. May drop this connection or another.
    void sent(std::size_t bytes);
    // A message was queued that other connections share. Returns the function to call once it was
    // written.
    std::function<void()> share(std::size_t bytes);

   private:
    friend class MemoryBudget;
    using Place = std::list<Seat*>::iterator;

    std::size_t unread() const;

    MemoryBudget& budget_;
    const std::shared_ptr<net::WebSocket> socket_;
    const std::shared_ptr<std::size_t> shared_ = std::make_shared<std::size_t>(0);  // unread
    std::size_t held_ = 0;
    Place seat_;     // among all
    Place holding_;  // among seats that hold bytes; the end: this seat holds none
  };

  std::size_t held_bytes() const { return held_; }

 private:
  void look_for_unread();

  const MemoryLimits limits_;
  std::list<Seat*> seats_;
  std::list<Seat*> holding_;  // whose message began first is first
  std::size_t held_ = 0;
  std::size_t sent_ = 0;  // since they were looked through
};

}  // namespace errand::server
