#include "cli/terminal/input_waiter.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/assert.hpp"

namespace errand::cli {

InputWaiter::InputWaiter() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ERRAND_ASSERT(bell_.is_open());
}

InputWaiter::Found InputWaiter::wait(int fd) {
  for (;;) {
    std::uint64_t rings = 0;
    [[maybe_unused]] ssize_t count = ::read(bell_.get(), &rings, sizeof rings);
    if (is_interrupted_.exchange(false)) return Found::interruption;
    if (is_redraw_wanted_.exchange(false)) return Found::redraw;
    std::array<pollfd, 2> sources{pollfd{.fd = bell_.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = fd, .events = POLLIN, .revents = 0}};
    ::poll(sources.data(), sources.size(), -1);
    if (sources[0].revents == 0 && sources[1].revents != 0) return Found::input;
  }
}

void InputWaiter::wake(Found why) {
  (why == Found::redraw ? is_redraw_wanted_ : is_interrupted_) = true;
  std::uint64_t ring = 1;
  [[maybe_unused]] ssize_t count = ::write(bell_.get(), &ring, sizeof ring);
}

}  // namespace errand::cli
