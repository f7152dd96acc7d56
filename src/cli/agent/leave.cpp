#include "cli/agent/leave.hpp"

#include <csignal>
#include <cstdlib>

namespace errand::cli {

void leave_now(int exit_code) {
  std::_Exit(exit_code);
}

void add_hangup(asio::signal_set& signals) {
  struct sigaction now{};
  bool is_ignored = ::sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  if (!is_ignored) signals.add(SIGHUP);
}

}  // namespace errand::cli
