#pragma once

#include "cli/agent/agent_session.hpp"

namespace errand::cli {

// `errand chat --list`: prints the chats that can be resumed. Lives on the home of its session.
class ChatList final : public AgentWork {
 public:
  static constexpr std::size_t kShownMax = 50;  // sessions; and of chats made of forks
  static constexpr std::size_t kForksReadMax = 200;

  // `session` outlives the list.
  explicit ChatList(AgentSession& session) : session_(session) {}

  Task<int> work() override;
  Task<void> clean_up() override;
  void on_signal(int signal) override;

 private:
  Task<Result<std::string>> render();

  AgentSession& session_;
};

}  // namespace errand::cli
