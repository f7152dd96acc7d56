#include "async/gate.hpp"

namespace errand {

// A visitor in the queue. If it is cancelled, it leaves the queue, or passes its place on to the
// next visitor.
class Gate::Waiting final {
 public:
  Waiting(Gate& gate, Visitor& visitor)
      : gate_(gate), visitor_(visitor), at_(gate.waiting_.insert(gate.waiting_.end(), &visitor)) {}
  ~Waiting() {
    if (is_done_) return;
    if (visitor_.is_in) {
      gate_.leave();
    } else {
      gate_.waiting_.erase(at_);
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  void done() { is_done_ = true; }

 private:
  Gate& gate_;
  Visitor& visitor_;
  const std::list<Visitor*>::iterator at_;
  bool is_done_ = false;
};

Task<Gate::Pass> Gate::enter() {
  if (free_ > 0) {
    --free_;
    co_return Pass(*this);
  }
  Visitor visitor{.let_in = Wakeup(home_)};
  Waiting waiting(*this, visitor);
  while (!visitor.is_in) co_await visitor.let_in.wait();
  waiting.done();
  co_return Pass(*this);
}

// Passes the place on to the next visitor in the queue.
void Gate::leave() {
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  Visitor* next = waiting_.front();
  waiting_.pop_front();
  next->is_in = true;
  next->let_in.notify();
}

}  // namespace errand
