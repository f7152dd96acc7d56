#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/chat/chat_thread.hpp"

namespace errand::cli {

// A chat that is a session. The session retains what tools gave back, so that the model remembers
// it. Messages whose answers failed or were cancelled leave nothing. Other terminals may send
// messages to the same session; each waits for its turn.
class SessionThread final : public ChatThread {
 public:
  // Without a session, the first message creates one. `api` outlives the thread.
  SessionThread(sdk::RunApi& api, Spec agent, SessionId session);

  std::string id() const override { return session_.str(); }
  Task<Result<ChatPast>> past() override;
  Task<Result<RunId>> say(std::string message) override;
  void go_on_from(const RunId& run) override { last_run_ = run; }
  Task<Result<std::vector<Saying>>> news() override;
  Task<Result<std::vector<Saying>>> sayings() override;
  const RunId& last_run() const override { return last_run_; }
  void choose_model(std::string id) override { agent_.model_id = std::move(id); }

 private:
  sdk::RunApi& api_;
  Spec agent_;
  SessionId session_;
  RunId last_run_;
  std::set<RunId> own_;    // runs of messages that were sent or followed here
  std::int64_t seen_ = 0;  // messages of the history that are no news
};

}  // namespace errand::cli
