#pragma once

#include <string>

#include "sdk/run_api.hpp"

namespace errand::cli {

// The runs that a chat is made of. Each message is a run of its own; all but the first are forks of
// the run before, so that everything that was said and done there goes along. What the model left
// unanswered because its run failed or was cancelled does not. The runs of a chat carry its id.
// Lives on one home.
class ChatThread final {
 public:
  // `agent` is what every run is asked for with; its tools are all that the model may call, also in
  // a chat that had others.
  ChatThread(sdk::RunApi& api, std::string id, Spec agent);

  // Goes on with a chat that is there, or the latest one if `id` is empty; gives its last run.
  // not_found: there is no such chat.
  Task<Result<sdk::RunInfo>> resume(std::string id);

  // Makes the run of the next message.
  Task<Result<RunId>> say(std::string message);
  // The next message goes on from this run.
  void go_on_from(const RunId& run) { last_run_ = run; }

  void choose_model(std::string id) { agent_.model_id = std::move(id); }
  const std::string& chosen_model() const { return agent_.model_id; }  // empty: the one before

  const std::string& id() const { return id_; }
  const RunId& last_run() const { return last_run_; }  // empty before the first

 private:
  sdk::RunApi& api_;
  std::string id_;
  Spec agent_;
  RunId last_run_;
};

}  // namespace errand::cli
