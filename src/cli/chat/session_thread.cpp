#include "cli/chat/session_thread.hpp"

#include <algorithm>
#include <utility>

namespace errand::cli {
namespace {

// The last message and its answer.
constexpr std::size_t kPastMessages = 2;

void add_sayings(std::vector<Saying>& sayings, const sdk::SaidMessage& message) {
  using Kind = Saying::Kind;
  for (const RetainedCall& call : message.retained) {
    if (!call.text.empty()) sayings.push_back({Kind::model, call.text});
    sayings.push_back({Kind::call, call.arguments, call.name});
    sayings.push_back({call.ok ? Kind::result : Kind::failure, call.result, call.name});
  }
  sayings.push_back({message.role == Role::user ? Kind::user : Kind::model, message.text});
}

}  // namespace

SessionThread::SessionThread(sdk::RunApi& api, Spec agent, SessionId session)
    : api_(api), agent_(std::move(agent)), session_(session) {}

Task<Result<ChatPast>> SessionThread::past() {
  ERRAND_CO_TRY(auto session, co_await api_.get_session(session_));
  ERRAND_CO_TRY(auto last, co_await api_.history(session_, {.last = kPastMessages}));
  ERRAND_CO_TRY(auto runs, co_await api_.list({.session = session_, .limit = 1}));
  ChatPast past{.last = {}, .run = {}, .model_id = session.model_id};
  for (const sdk::SaidMessage& message : last) {
    add_sayings(past.last, message);
    seen_ = message.seq;
  }
  if (!runs.runs.empty()) {
    last_run_ = runs.runs.front().id;
    past.model_id = runs.runs.front().model_id;
  }
  if (session.current) {
    ERRAND_CO_TRY(past.run, co_await api_.get(*session.current));
    own_.insert(*session.current);
  }
  co_return past;
}

Task<Result<RunId>> SessionThread::say(std::string message) {
  if (session_.empty()) {
    sdk::SessionParams params{.spec = agent_};
    params.spec.name = kChatCommand;
    params.spec.tools =
        share_tools({});  // they belong to the terminal and are sent with each message
    params.spec.metadata = {{kCommandKey, kChatCommand}};
    params.spec.retains_all = true;
    ERRAND_CO_TRY(session_, co_await api_.create_session(std::move(params), {}));
  }
  sdk::SessionMessage sent;
  sent.said.prompt = std::move(message);
  sent.overrides = overrides_of(agent_);
  ERRAND_CO_TRY(auto run, co_await api_.say(session_, std::move(sent), {}));
  own_.insert(run);
  co_return run;
}

Task<Result<std::vector<Saying>>> SessionThread::news() {
  std::vector<Saying> sayings;
  if (session_.empty()) co_return sayings;
  ERRAND_CO_TRY(auto messages, co_await api_.history(session_, {.after = seen_}));
  for (const sdk::SaidMessage& message : messages) {
    seen_ = message.seq;
    if (!own_.contains(message.run)) add_sayings(sayings, message);
  }
  co_return sayings;
}

Task<Result<std::vector<Saying>>> SessionThread::sayings() {
  std::vector<Saying> sayings;
  ERRAND_CO_TRY(auto messages, co_await api_.history(session_, {}));
  for (const sdk::SaidMessage& message : messages) add_sayings(sayings, message);
  co_return sayings;
}

}  // namespace errand::cli
