// Sessions of a runner.
#include <utility>

#include "engine/engine.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {

Result<std::shared_ptr<Following>> RunnerCore::say(std::shared_ptr<const SessionCore> session,
                                                   v1::RunOptions message, EventQueue::Keep keep) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(message));
  return wait<Followed>(
      [this, session = std::move(session), shared, keep] { return say_in(session, shared, keep); });
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
  ERRAND_CO_TRY(auto tools, co_await gather(AskedTools::of(*agent), Answers::here));
  session->tools = std::move(tools.tools);
  session->lent = std::move(tools.lent);
  agent->prompt = "-";  // read as a run, which has one
  ERRAND_CO_TRY(auto request, read_request(*agent));
  request.spec.prompt = "";
  add_refs(request.spec, session->lent.refs);
  const std::string key = key_of(*agent);
  engine::SessionParams params{.spec = request.spec, .when_busy = when_busy};
  ERRAND_CO_TRY(session->id, co_await persist<SessionId>([this, params, key] {
                  return api().create_session(params, key);
                }));
  co_return session;
}

Task<Result<std::shared_ptr<SessionCore>>> RunnerCore::find_session(
    SessionId id, std::shared_ptr<v1::AttachOptions> tools) {
  auto session = std::make_shared<SessionCore>();
  session->id = id;
  ERRAND_CO_TRY(auto found, co_await gather(AskedTools::of(*tools), Answers::here));
  session->tools = std::move(found.tools);
  session->lent = std::move(found.lent);
  ERRAND_CO_CHECK(co_await persist<SessionInfo>([this, id] { return api().get_session(id); }));
  co_return session;
}

Task<Result<RunnerCore::Followed>> RunnerCore::say_in(std::shared_ptr<const SessionCore> session,
                                                      std::shared_ptr<v1::RunOptions> message,
                                                      EventQueue::Keep keep) {
  ERRAND_CO_TRY(auto own, co_await gather(AskedTools::of(*message), Answers::here));
  std::string inherited;
  if (needs_inherited_prompt(*message)) {
    ERRAND_CO_TRY(auto info, co_await persist<SessionInfo>(
                                 [this, id = session->id] { return api().get_session(id); }));
    inherited = std::move(info.system_prompt);
  }
  ERRAND_CO_TRY(auto request, read_request(*message, inherited));
  add_refs(request.spec, std::move(own.lent.refs));
  ToolSetPtr tools = request.spec.tools;
  engine::SessionMessage said{.said = request.spec,
                              .overrides = take_overrides(request.body, request.spec)};
  said.overrides.prompt.reset();
  said.overrides.tools = tools->refs.empty() ? nullptr : tools;
  said.said.tools = share_tools({});
  const std::string key = key_of(*message);
  ERRAND_CO_TRY(auto run, co_await persist<RunId>([this, id = session->id, said, key] {
                  return api().say(id, said, key);
                }));
  Following::Params params = params_for(run);
  params.keep = keep;
  params.tools = own.tools.empty() ? session->tools : std::move(own.tools);
  params.answers = message->answer_calls && backend_->called_by() == CalledBy::client;
  params.lease = std::make_shared<std::pair<std::shared_ptr<const SessionCore>, LentTools>>(
      session, std::move(own.lent));
  co_return add(std::move(params));
}

Task<Result<bool>> RunnerCore::end_session(SessionId session) {
  ERRAND_CO_CHECK(co_await persist<void>([this, session] { return api().end_session(session); }));
  co_return true;
}

}  // namespace errand::sdk
