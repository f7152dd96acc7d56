#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "async/home.hpp"
#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/clock.hpp"

namespace errand {

// Deadlines of one home. A collaborator, so that tests can let hours pass at once. Call on the
// home.
class Timers {
 public:
  // Names a deadline that was set; a default one names none.
  struct Id {
    SteadyTime when{};
    std::uint64_t number = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
  };

  virtual ~Timers() = default;
  virtual SteadyTime now() const = 0;
  // Calls `action` once, not before `when`, from the home's loop (never from inside set).
  virtual Id set(SteadyTime when, std::function<void()> action) = 0;
  // No effect if it has fired, or for one that names none.
  virtual void cancel(Id id) = 0;

  // Shorter if it is interrupted.
  Task<void> sleep_until(SteadyTime when, Interrupt* interrupt = nullptr);
};

// A deadline that is called off when its scope ends.
class TimerGuard final {
 public:
  TimerGuard(Timers& timers, SteadyTime when, std::function<void()> action)
      : timers_(timers), id_(timers.set(when, std::move(action))) {}
  ~TimerGuard() { timers_.cancel(id_); }
  TimerGuard(const TimerGuard&) = delete;
  TimerGuard& operator=(const TimerGuard&) = delete;

 private:
  Timers& timers_;
  Timers::Id id_;
};

// One operating-system timer for any number of deadlines.
class AsioTimers final : public Timers {
 public:
  explicit AsioTimers(Home home);

  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
  Id set(SteadyTime when, std::function<void()> action) override;
  void cancel(Id id) override;

 private:
  void arm();
  void fire();

  SteadyTimer timer_;
  SteadyTime armed_for_ = SteadyTime::max();
  std::map<Id, std::function<void()>> queue_;
  std::uint64_t last_number_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a fired timer may come after the end
};

// Time that stands still until a test moves it.
class ManualTimers final : public Timers {
 public:
  SteadyTime now() const override { return now_; }
  Id set(SteadyTime when, std::function<void()> action) override;
  void cancel(Id id) override;

  // Moves to the next deadline and fires it; false if there is none.
  bool fire_next();
  void advance(std::chrono::milliseconds by);
  std::size_t pending() const { return queue_.size(); }

 private:
  SteadyTime now_{};
  std::map<Id, std::function<void()>> queue_;
  std::uint64_t last_number_ = 0;
};

}  // namespace errand
