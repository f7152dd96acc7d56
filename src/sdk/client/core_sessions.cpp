// The runner's calls about sessions.
#include <utility>

#include "engine/engine.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {
namespace {

std::optional<WhenBusy> busy_of(const v1::RunOptions& options) {
  if (!options.when_busy) return {};
  return static_cast<WhenBusy>(*options.when_busy);
}

}  // namespace

Result<std::shared_ptr<Following>> RunnerCore::say(std::shared_ptr<const SessionCore> session,
                                                   v1::RunOptions message, EventQueue::Keep keep) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(message));
  return wait<Followed>([this, session = std::move(session), shared, keep] {
    return say_in(session, shared, keep, nullptr);
  });
}

Result<std::shared_ptr<SessionCore>> RunnerCore::make_session(v1::RunOptions agent,
                                                              WhenBusy when_busy) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(agent));
  return wait<std::shared_ptr<SessionCore>>(
      [this, shared, when_busy] { return create_session(shared, when_busy); });
}

Result<std::shared_ptr<SessionCore>> RunnerCore::open_session(SessionId id,
                                                              v1::AttachOptions tools) {
  auto shared = std::make_shared<v1::AttachOptions>(std::move(tools));
  return wait<std::shared_ptr<SessionCore>>(
      [this, id, shared] { return find_session(id, shared); });
}

Task<Result<std::shared_ptr<SessionCore>>> RunnerCore::create_session(
    std::shared_ptr<v1::RunOptions> agent, WhenBusy when_busy) {
  if (!agent->prompt.empty() || !agent->messages.empty()) {
    co_return Error(ErrorCode::invalid_argument,
                    "a session begins without a prompt: give it to Session::run")
        .pointer(agent->prompt.empty() ? "/messages" : "/prompt");
  }
  auto session = std::make_shared<SessionCore>();
  session->answers_calls = agent->answer_calls;
  if (agent->tool_timeout.count() > 0) session->tool_timeout = agent->tool_timeout;
  const Answers answers = agent->answer_calls ? Answers::here : Answers::elsewhere;
  ERRAND_CO_TRY(auto tools, co_await gather(AskedTools::of(*agent), answers));
  session->tools = std::move(tools.tools);
  session->elicitation = std::move(tools.elicitation);
  session->lent = std::move(tools.lent);
  ERRAND_CO_TRY(auto request, read_request(*agent, rules(Says::anything)));
  add_refs(request, session->lent.refs);
  const std::string key = key_of(*agent);
  auto body = std::make_shared<const json::Object>(std::move(request.body));
  engine::SessionParams params{.spec = std::move(request.spec),
                               .when_busy = busy_of(*agent).value_or(when_busy)};
  ERRAND_CO_TRY(session->id, co_await persist<SessionId>([this, params, key, body] {
                  return api().create_session(params, key, body);
                }));
  co_return session;
}

Task<Result<std::shared_ptr<SessionCore>>> RunnerCore::find_session(
    SessionId id, std::shared_ptr<v1::AttachOptions> tools) {
  auto session = std::make_shared<SessionCore>();
  session->id = id;
  ERRAND_CO_TRY(auto found, co_await gather(AskedTools::of(*tools), Answers::here));
  session->tools = std::move(found.tools);
  session->elicitation = std::move(found.elicitation);
  session->lent = std::move(found.lent);
  ERRAND_CO_TRY(auto info,
                co_await persist<SessionInfo>([this, id] { return api().get_session(id); }));
  session->tool_timeout = info.tool_timeout;
  co_return session;
}

Task<Result<RunnerCore::Followed>> RunnerCore::say_in(std::shared_ptr<const SessionCore> session,
                                                      std::shared_ptr<v1::RunOptions> message,
                                                      EventQueue::Keep keep, Reply reply) {
  const bool answers_calls = session->answers_calls && message->answer_calls;
  ERRAND_CO_TRY(auto own, co_await gather(AskedTools::of(*message),
                                          answers_calls ? Answers::here : Answers::elsewhere));
  std::string inherited;
  if (needs_inherited_prompt(*message)) {
    ERRAND_CO_TRY(auto info, co_await persist<SessionInfo>(
                                 [this, id = session->id] { return api().get_session(id); }));
    inherited = std::move(info.system_prompt);
  }
  ERRAND_CO_TRY(auto request, read_request(*message, rules(Says::something), inherited));
  add_refs(request, std::move(own.lent.refs));
  ToolSetPtr tools = request.spec.tools;
  engine::SessionMessage said{.said = request.spec,
                              .overrides = take_overrides(request.body, request.spec),
                              .when_busy = busy_of(*message)};
  auto body = std::make_shared<const json::Object>(std::move(request.body));
  said.overrides.prompt.reset();
  said.overrides.tools = tools->refs.empty() ? nullptr : tools;
  said.said.tools = share_tools({});
  const std::string key = key_of(*message);
  ERRAND_CO_TRY(auto run, co_await persist<RunId>([this, id = session->id, said, key, body] {
                  return api().say(id, said, key, body);
                }));
  Following::Params params = params_for(run);
  params.keep = keep;
  params.reply = std::move(reply);
  let_answer(params, own.tools.empty() ? session->tools : std::move(own.tools),
             own.elicitation ? own.elicitation : session->elicitation, answers_calls);
  params.tool_timeout = session->tool_timeout;
  if (message->tool_timeout.count() > 0) params.tool_timeout = message->tool_timeout;
  params.lease = std::make_shared<std::pair<std::shared_ptr<const SessionCore>, LentTools>>(
      session, std::move(own.lent));
  co_return add(std::move(params));
}

Task<Result<bool>> RunnerCore::end_session(SessionId session) {
  ERRAND_CO_CHECK(co_await persist<void>([this, session] { return api().end_session(session); }));
  co_return true;
}

}  // namespace errand::sdk
