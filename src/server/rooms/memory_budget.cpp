#include "server/rooms/memory_budget.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace errand::server {
namespace {

constexpr std::uint16_t kUnfinishedClose = 1013;

}  // namespace

MemoryBudget::Seat::Seat(MemoryBudget& budget, std::shared_ptr<net::WebSocket> socket)
    : budget_(budget),
      socket_(std::move(socket)),
      seat_(budget.seats_.insert(budget.seats_.end(), this)),
      holding_(budget.holding_.end()) {}

MemoryBudget::Seat::~Seat() {
  hold(0);
  budget_.seats_.erase(seat_);
}

void MemoryBudget::Seat::hold(std::size_t bytes) {
  budget_.held_ += bytes;
  budget_.held_ -= std::exchange(held_, bytes);
  const bool was_holding = holding_ != budget_.holding_.end();
  if (was_holding && bytes == 0) {
    budget_.holding_.erase(std::exchange(holding_, budget_.holding_.end()));
  } else if (!was_holding && bytes > 0) {
    holding_ = budget_.holding_.insert(budget_.holding_.end(), this);
  }
  while (budget_.held_ > budget_.limits_.half_bytes_max) {
    Seat& first = *budget_.holding_.front();
    // A peer that reads gets the close frame. Nothing waits for the peer's answer, because the
    // connection would hold its bytes until then.
    first.socket_->close({.code = kUnfinishedClose, .reason = "too many messages are unfinished"});
    first.socket_->drop();
    budget_.held_ -= std::exchange(first.held_, 0);
    budget_.holding_.erase(std::exchange(first.holding_, budget_.holding_.end()));
  }
}

void MemoryBudget::Seat::sent(std::size_t bytes) {
  budget_.sent_ += bytes;
  if (budget_.sent_ >= budget_.limits_.look_every_bytes) budget_.look_for_unread();
}

std::function<void()> MemoryBudget::Seat::share(std::size_t bytes) {
  *shared_ += bytes;
  return [shared = shared_, bytes] { *shared -= bytes; };
}

std::size_t MemoryBudget::Seat::unread() const {
  const std::size_t queued = socket_->queued_bytes();
  return queued - std::min(queued, *shared_);
}

void MemoryBudget::look_for_unread() {
  sent_ = 0;
  std::size_t total = 0;
  for (const Seat* seat : seats_) total += seat->unread();
  if (total <= limits_.unread_bytes_max) return;
  std::vector<std::pair<std::size_t, Seat*>> slow;
  for (Seat* seat : seats_) slow.emplace_back(seat->unread(), seat);
  std::sort(slow.begin(), slow.end(), std::greater<>());
  for (const auto& [bytes, seat] : slow) {
    if (total <= limits_.unread_bytes_max) return;
    seat->socket_->drop();
    total -= bytes;
  }
}

}  // namespace errand::server
