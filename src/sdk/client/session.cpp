// The calls of a Session, and those of a Runner that concern sessions.
#include <errand/runner.hpp>
#include <utility>

#include "base/text.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/client/runner_core.hpp"

namespace errand::v1 {
namespace {

using sdk::EventQueue;
using sdk::value_or_throw;

SessionId session_of(std::string_view id) {
  if (auto session = SessionId::parse(id)) return *session;
  throw Error(ErrorCode::not_found, cat("there is no session \"", utf8_prefix(id, 80), "\""));
}

}  // namespace

Session::Session(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::SessionCore> session,
                 std::string id)
    : core_(std::move(core)), session_(std::move(session)), id_(std::move(id)) {}

Reply Session::run(std::string prompt) const {
  return run(RunOptions{.prompt = std::move(prompt)});
}

Reply Session::run(RunOptions message) const {
  Result<Reply> reply = try_run(std::move(message));
  if (!reply) detail::throw_run_error(reply.error());
  return *std::move(reply);
}

Result<Reply> Session::try_run(RunOptions message) const {
  auto run = core_->say(session_, std::move(message), EventQueue::Keep::end_only);
  if (!run) return sdk::public_error(run.error());
  return sdk::read_reply((*run)->events());
}

RunStream Session::stream(RunOptions message) const {
  auto run = value_or_throw(core_->say(session_, std::move(message), EventQueue::Keep::all));
  std::string id = run->run().str();
  return {core_, std::move(run), std::move(id)};
}

AsyncRun Session::run_async(RunOptions message, std::function<void(Result<Reply>)> done) const {
  return {core_, core_->say_async(session_, std::move(message), std::move(done))};
}

std::vector<Message> Session::messages() const {
  using Said = std::vector<sdk::SaidMessage>;
  auto said = value_or_throw(core_->wait<Said>([core = core_.get(), id = session_->id] {
    return core->persist<Said>([core, id] { return core->api().history(id, {}); });
  }));
  std::vector<Message> out;
  for (const sdk::SaidMessage& message : said) {
    out.push_back({.role = static_cast<Role>(message.role), .text = message.text});
  }
  return out;
}

void Session::end() const {
  value_or_throw(
      core_->wait<bool>([core = core_.get(), id = session_->id] { return core->end_session(id); }));
}

Session Runner::session(RunOptions agent, WhenBusy when_busy) const {
  auto made = value_or_throw(
      core_->make_session(std::move(agent), static_cast<errand::WhenBusy>(when_busy)));
  std::string id = made->id.str();
  return {core_, std::move(made), std::move(id)};
}
static_assert(static_cast<int>(WhenBusy::interrupt) ==
              static_cast<int>(errand::WhenBusy::interrupt));

Session Runner::open_session(std::string_view id, AttachOptions tools) const {
  auto found = value_or_throw(core_->open_session(session_of(id), std::move(tools)));
  return {core_, std::move(found), std::string(id)};
}

SessionPage Runner::sessions(SessionQuery query) const {
  sdk::SessionQuery asked{.metadata = {query.metadata.begin(), query.metadata.end()},
                          .limit = query.limit,
                          .cursor = query.cursor};
  auto page =
      value_or_throw(core_->wait<sdk::SessionPage>([core = core_.get(), asked = std::move(asked)] {
        return core->persist<sdk::SessionPage>(
            [core, asked] { return core->api().list_sessions(asked); });
      }));
  SessionPage out{.next_cursor = page.next_cursor};
  for (const sdk::SessionInfo& one : page.sessions) {
    out.sessions.push_back({.id = one.id.str(),
                            .name = one.name,
                            .active = one.status == errand::SessionStatus::active,
                            .metadata = {one.metadata.begin(), one.metadata.end()},
                            .summary = one.summary,
                            .last_used_at = one.last_used});
  }
  return out;
}

}  // namespace errand::v1
