// What reaches a run from outside: mail, and the results of calls.
#include <algorithm>
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/fold/result_check.hpp"
#include "async/read_aside.hpp"

namespace errand::agent {
namespace {

// The cost of recording a result besides its bytes, as a number of bytes.
constexpr std::size_t kResultCost = 16U * 1024;
// A result up to this size is checked on the home if its schema compiles quickly.
constexpr std::size_t kQuickResultBytes = 16U * 1024;

struct CheckedResult {
  OutcomeEntry outcome;
  std::optional<json::Value> structured;
};

}  // namespace

bool AgentRun::cancel_waits() const {
  return std::any_of(inbox_.begin(), inbox_.end(),
                     [](const Mailbox& mail) { return mail.kind == MailKind::cancel; });
}

bool AgentRun::has_mail_to_fold() const {
  if (cancel_waits()) return true;
  return state_->turn().end && (!inbox_.empty() || !host_outcomes_.empty());
}

// There may be many long answers, from the time while the turn was streamed or while the run was
// not driven.
Task<void> AgentRun::fold_inbox() {
  // An answer is shown after the message of the turn that made the call, so it waits for that
  // message.
  const bool turn_is_over = state_->turn().end.has_value();
  if (turn_is_over && has_failed_sibling()) cancel_siblings();
  Breath breath(kBytesInABreath);
  std::vector<Mailbox> later;
  std::vector<Mailbox> mails = std::exchange(inbox_, {});
  for (Mailbox& mail : mails) {
    if (mail.kind == MailKind::cancel) {
      fold_cancel(mail.body);
      continue;
    }
    if (mail.kind == MailKind::progress) {
      fold_progress(mail);
      continue;
    }
    if (take_answer(mail)) continue;
    if (!turn_is_over) {
      later.push_back(std::move(mail));
      continue;
    }
    const std::size_t bytes = mail.body.size() + kResultCost;
    auto answer = co_await read_answer(std::move(mail.body));
    auto id = ToolUseId::parse(mail.slot);
    if (!answer || !id) continue;
    OutcomeEntry outcome{.id = *id,
                         .ok = answer->ok,
                         .text = std::move(answer->text),
                         .timed_out = answer->timed_out,
                         .files = std::move(answer->files),
                         .is_fatal = answer->is_fatal};
    co_await take_result(std::move(outcome), {});
    if (breath.is_due(bytes)) co_await let_others_run();
  }
  // Mail that came meanwhile belongs behind the mail that waits for the end of the turn.
  inbox_.insert(inbox_.begin(), std::make_move_iterator(later.begin()),
                std::make_move_iterator(later.end()));
  if (!turn_is_over) co_return;
  std::vector<HostOutcome> results = std::exchange(host_outcomes_, {});
  for (HostOutcome& result : results) {
    const std::size_t bytes = result.entry.text.size() + kResultCost;
    log_->keep_blobs(std::move(result.blobs));
    co_await take_result(std::move(result.entry), std::move(result.structured));
    if (breath.is_due(bytes)) co_await let_others_run();
  }
}

// internal: `body` was not made by to_mail_body.
Task<Result<ToolAnswer>> AgentRun::read_answer(std::string body) {
  BlockingPool* pool = body.size() > kBytesInABreath ? around_.schemas.pool : nullptr;
  auto read = [body = std::move(body)] { return parse_tool_answer(body); };
  auto answer = co_await surely_aside(pool, std::move(read));
  co_return answer;
}

Task<void> AgentRun::take_result(OutcomeEntry outcome, std::optional<json::Value> structured) {
  const CallState* call = state_->find_call(outcome.id);
  if (!call || call->outcome) co_return;
  if (is_checked(*call, outcome)) {
    const SchemaPtr schema = call->tool->output_schema;
    const bool is_quick =
        outcome.text.size() <= kQuickResultBytes && !structured && json::is_plain_schema(*schema);
    auto result = std::make_shared<CheckedResult>(
        CheckedResult{.outcome = std::move(outcome), .structured = std::move(structured)});
    auto check = [schema, result, cache = around_.schemas.cache] {
      return Result<OutcomeEntry>(
          checked_outcome(*schema, std::move(result->outcome), result->structured, *cache));
    };
    auto checked =
        co_await surely_aside(is_quick ? nullptr : around_.schemas.pool, std::move(check));
    // A check that throws is a bug, and the result is lost with it.
    if (!checked) co_return observer_.on_broken(checked.error());
    outcome = std::move(*checked);
  }
  record_outcome(std::move(outcome));
}

Task<void> AgentRun::check_answer() {
  const TurnState& turn = state_->turn();
  const Sparse<OutputSchema>& output = state_->created().spec.output_schema;
  const bool is_answer = turn.end && turn.calls.empty() && output && !state_->terminal();
  if (!is_answer || answer_check_.turn == turn.index) co_return;
  const int index = turn.index;
  auto check = [schema = output->schema, text = state_->last_text(),
                cache = around_.schemas.cache] {
    return Result<Mistakes>(output_mistakes(*schema, text, *cache));
  };
  auto mistakes = co_await surely_aside(around_.schemas.pool, std::move(check));
  if (!mistakes) co_return observer_.on_broken(mistakes.error());
  answer_check_ = {.turn = index, .mistakes = std::move(*mistakes)};
}

void AgentRun::fold_cancel(const std::string& reason) {
  if (state_->terminal()) return;
  log_->close_mailbox(std::string(kCancelSlot));
  if (state_->cancel()) return;
  record(CancelEntry{.reason = reason, .at = around_.clock.now()});
  opening_ = Opening::none;
  cancelling_ = Cancelling::in_grace;
  if (host_tools_) host_tools_->cancel(CancelReason::user_stop);
  if (child_calls_) child_calls_->cancel(CancelReason::user_stop);
  grace_timer_ = around_.timers.set(around_.timers.now() + kCancelGrace, [this] {
    cancelling_ = Cancelling::grace_over;
    kick();
  });
}

}  // namespace errand::agent
