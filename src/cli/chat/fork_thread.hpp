#pragma once

#include <string>
#include <vector>

#include "cli/chat/chat_thread.hpp"

namespace errand::cli {

// Metadata of the runs of one chat that is made of forks: the id of the chat.
inline constexpr const char* kForkedChatKey = "errand.chat";
// The id of the chat that a run belongs to; empty if it belongs to none.
std::string forked_chat_of(const sdk::RunInfo& run);

// A chat that an earlier version began: each message is a run of its own, and all but the first are
// forks of the run before. Messages that the model left unanswered are not carried over. Such a
// chat continues in the same way.
class ForkThread final : public ChatThread {
 public:
  // `api` outlives the thread. `last_run` is the latest run of the chat.
  ForkThread(sdk::RunApi& api, std::string id, Spec agent, RunId last_run);

  std::string id() const override { return id_; }
  Task<Result<ChatPast>> past() override;
  Task<Result<RunId>> say(std::string message) override;
  void go_on_from(const RunId& run) override { last_run_ = run; }
  Task<Result<std::vector<Saying>>> news() override;  // none: only one terminal goes on
  Task<Result<std::vector<Saying>>> sayings() override;
  const RunId& last_run() const override { return last_run_; }
  void choose_model(std::string id) override { agent_.model_id = std::move(id); }

 private:
  sdk::RunApi& api_;
  const std::string id_;
  Spec agent_;
  RunId last_run_;
};

}  // namespace errand::cli
