#include "cli/chat/chat_thread.hpp"

#include <utility>

#include "base/text.hpp"
#include "cli/chat/fork_thread.hpp"
#include "cli/chat/session_thread.hpp"

namespace errand::cli {
namespace {

Error no_chat(const std::string& id) {
  if (id.empty()) {
    return Error(ErrorCode::not_found, "there is no chat to continue")
        .hint("'errand chat' begins one");
  }
  return Error(ErrorCode::not_found, cat("there is no chat \"", id, "\" here"))
      .hint("'errand chat --list' lists chats, 'errand chat --resume' continues the latest one");
}

Task<Result<ChatThreadPtr>> resume_session(sdk::RunApi* api, SessionId id, Spec agent) {
  ERRAND_CO_TRY(auto session, co_await api->get_session(id));
  co_return std::make_unique<SessionThread>(*api, std::move(agent), session.id);
}

// The latest chat is the one with the latest message among those that have not ended.
Task<Result<ChatThreadPtr>> resume_latest(sdk::RunApi* api, Spec agent) {
  sdk::RunQuery latest{.metadata = {{kCommandKey, kChatCommand}}, .limit = 1};
  ERRAND_CO_TRY(auto page, co_await api->list(std::move(latest)));
  if (!page.runs.empty() && page.runs.front().session.empty()) {
    const sdk::RunInfo& run = page.runs.front();
    std::string id = forked_chat_of(run);
    if (id.empty()) co_return no_chat("");
    co_return std::make_unique<ForkThread>(*api, std::move(id), std::move(agent), run.id);
  }
  sdk::SessionQuery sessions{
      .status = SessionStatus::active, .metadata = {{kCommandKey, kChatCommand}}, .limit = 1};
  ERRAND_CO_TRY(auto kept, co_await api->list_sessions(std::move(sessions)));
  if (kept.sessions.empty()) co_return no_chat("");
  co_return co_await resume_session(api, kept.sessions.front().id, std::move(agent));
}

}  // namespace

SpecOverrides overrides_of(const Spec& agent) {
  SpecOverrides overrides{
      .tools = agent.tools, .budgets = agent.budgets, .reasoning_level = agent.reasoning_level};
  if (!agent.model_id.empty()) overrides.model_id = agent.model_id;
  if (!agent.system_prompt.empty()) overrides.system_prompt = agent.system_prompt;
  return overrides;
}

ChatThreadPtr new_chat(sdk::RunApi& api, Spec agent) {
  return std::make_unique<SessionThread>(api, std::move(agent), SessionId());
}

Task<Result<ChatThreadPtr>> resume_chat(sdk::RunApi* api, std::string id, Spec agent) {
  if (id.empty()) co_return co_await resume_latest(api, std::move(agent));
  if (auto session = SessionId::parse(id)) {
    auto found = co_await resume_session(api, *session, agent);
    bool is_unknown = !found && found.error().code() == ErrorCode::not_found;
    if (!is_unknown) co_return found;
  }
  sdk::RunQuery forks{.metadata = {{kForkedChatKey, id}}, .limit = 1};
  ERRAND_CO_TRY(auto page, co_await api->list(std::move(forks)));
  if (page.runs.empty()) co_return no_chat(id);
  co_return std::make_unique<ForkThread>(*api, std::move(id), std::move(agent),
                                         page.runs.front().id);
}

}  // namespace errand::cli
