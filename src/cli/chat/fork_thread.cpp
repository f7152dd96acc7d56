#include "cli/chat/fork_thread.hpp"

#include <algorithm>
#include <utility>

namespace errand::cli {

std::string forked_chat_of(const sdk::RunInfo& run) {
  auto found = std::find_if(run.metadata.begin(), run.metadata.end(),
                            [](const auto& pair) { return pair.first == kForkedChatKey; });
  return found == run.metadata.end() ? std::string() : found->second;
}

ForkThread::ForkThread(sdk::RunApi& api, std::string id, Spec agent, RunId last_run)
    : api_(api), id_(std::move(id)), agent_(std::move(agent)), last_run_(last_run) {}

Task<Result<ChatPast>> ForkThread::past() {
  ERRAND_CO_TRY(auto run, co_await api_.get(last_run_));
  ERRAND_CO_TRY(auto last, co_await sayings());
  ChatPast past{.last = std::move(last), .run = {}, .model_id = run.model_id};
  if (!is_terminal(run.status)) past.run = std::move(run);
  co_return past;
}

Task<Result<RunId>> ForkThread::say(std::string message) {
  ForkParams params{.from_seq = {}, .overrides = overrides_of(agent_)};
  params.overrides.prompt = std::move(message);
  co_return co_await api_.fork(last_run_, std::move(params));
}

Task<Result<std::vector<Saying>>> ForkThread::news() {
  co_return std::vector<Saying>();
}

Task<Result<std::vector<Saying>>> ForkThread::sayings() {
  ERRAND_CO_TRY(auto journal, co_await api_.journal(last_run_));
  co_return sayings_of(journal);
}

}  // namespace errand::cli
