#include "cli/chat/chat_thread.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::cli {
namespace {

// Metadata of the runs of all chats, and of one.
constexpr const char* kCommandKey = "errand.command";
constexpr const char* kCommand = "chat";
constexpr const char* kChatKey = "errand.chat";

Error no_chat(const std::string& id) {
  if (id.empty()) {
    return Error(ErrorCode::not_found, "there is no chat to go on with")
        .hint("'errand chat' begins one");
  }
  return Error(ErrorCode::not_found, cat("there is no chat \"", id, "\" here"))
      .hint("'errand chat --resume' goes on with the latest one");
}

std::string chat_of(const sdk::RunInfo& run) {
  auto found = std::find_if(run.metadata.begin(), run.metadata.end(),
                            [](const auto& pair) { return pair.first == kChatKey; });
  return found == run.metadata.end() ? std::string() : found->second;
}

// What a fork has that the run before may not have had.
ForkParams fork_for(const Spec& agent, std::string message) {
  SpecOverrides overrides{.prompt = std::move(message),
                          .tools = agent.tools,
                          .budgets = agent.budgets,
                          .reasoning_level = agent.reasoning_level};
  if (!agent.model_id.empty()) overrides.model_id = agent.model_id;
  if (!agent.system_prompt.empty()) overrides.system_prompt = agent.system_prompt;
  return {.from_seq = {}, .overrides = std::move(overrides)};
}

}  // namespace

ChatThread::ChatThread(sdk::RunApi& api, std::string id, Spec agent)
    : api_(api), id_(std::move(id)), agent_(std::move(agent)) {}

Task<Result<sdk::RunInfo>> ChatThread::resume(std::string id) {
  sdk::RunQuery latest{.limit = 1};
  if (id.empty()) latest.metadata.emplace_back(kCommandKey, kCommand);
  if (!id.empty()) latest.metadata.emplace_back(kChatKey, id);
  ERRAND_CO_TRY(auto page, co_await api_.list(std::move(latest)));
  std::string found = page.runs.empty() ? std::string() : chat_of(page.runs.front());
  if (found.empty()) co_return no_chat(id);
  ERRAND_CO_TRY(auto run, co_await api_.get(page.runs.front().id));
  id_ = std::move(found);
  last_run_ = run.id;
  co_return run;
}

Task<Result<RunId>> ChatThread::say(std::string message) {
  if (!last_run_.empty()) {
    co_return co_await api_.fork(last_run_, fork_for(agent_, std::move(message)));
  }
  Spec first = agent_;
  first.prompt = std::move(message);
  first.metadata = {{kCommandKey, kCommand}, {kChatKey, id_}};
  co_return co_await api_.create(std::move(first));
}

}  // namespace errand::cli
