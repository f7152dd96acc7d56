#include "sdk/mcp/served_mcp_call.hpp"

#include <utility>

#include <errand/mcp.hpp>

#include "async/completion.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "sdk/bridge/handler_pool.hpp"
#include "sdk/bridge/public_error.hpp"

namespace errand::sdk {
namespace {

mcp::LogLevel level_of(v1::LogLevel level) {
  switch (level) {
    case v1::LogLevel::debug: return mcp::LogLevel::debug;
    case v1::LogLevel::info: return mcp::LogLevel::info;
    case v1::LogLevel::warning: return mcp::LogLevel::warning;
    case v1::LogLevel::error: break;
  }
  return mcp::LogLevel::error;
}

Error left_error() {
  return {ErrorCode::cancelled, "the client no longer wants the result"};
}

}  // namespace

ServedMcpCall::ServedMcpCall(const Executor& home, mcp::ServedCall& call, json::Object answers)
    : home_(home),
      era_(call.era()),
      client_(call.client()),
      answers_(std::move(answers)),
      call_(&call),
      bell_(std::make_unique<Wakeup>(home)) {}

void ServedMcpCall::log(v1::LogLevel level, std::string_view message) {
  if (lines_.fetch_add(1) >= kLinesMax) {
    lines_.fetch_sub(1);
    return;
  }
  post_from_outside(home_, [self = shared_from_this(), level, text = std::string(message)] {
    self->lines_.fetch_sub(1);
    if (self->call_) self->call_->log(level_of(level), "", json::Value(text));
  });
}

std::string ServedMcpCall::next_key() {
  return cat("question-", ++questions_);
}

json::Object ServedMcpCall::ask(std::map<std::string, mcp::InputRequest> questions) {
  if (era_ == mcp::Era::legacy) return ask_now(std::move(questions));
  std::lock_guard lock(mutex_);
  json::Object known;
  mcp::InputRequired missing;
  for (auto& [key, question] : questions) {
    const json::Object* answer = json::object_at(&answers_, key);
    if (answer) {
      known[key] = *answer;
    } else {
      missing.requests[key] = std::move(question);
    }
  }
  if (missing.requests.empty()) return known;
  wanted_ = std::move(missing);
  throw v1::mcp::Asked{};
}

json::Object ServedMcpCall::ask_now(std::map<std::string, mcp::InputRequest> questions) {
  auto asked = std::make_shared<Asked>(Asked{.questions = std::move(questions)});
  post_from_outside(home_, [self = shared_from_this(), asked] {
    self->waiting_.push_back(asked);
    if (self->bell_) self->bell_->notify();
  });
  HandlerPool::Waiting waiting;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return asked->answers.has_value() || is_left_; });
  if (!asked->answers) throw public_error(left_error());
  if (!*asked->answers) throw public_error(asked->answers->error());
  return std::move(**asked->answers);
}

Task<void> ServedMcpCall::serve() {
  for (;;) {
    if (waiting_.empty()) {
      co_await bell_->wait();
      continue;
    }
    AskedPtr asked = std::move(waiting_.front());
    waiting_.pop_front();
    auto answers = co_await ask_in_turn(asked);
    {
      std::lock_guard lock(mutex_);
      asked->answers = std::move(answers);
    }
    changed_.notify_all();
  }
}

Task<Result<json::Object>> ServedMcpCall::ask_in_turn(AskedPtr asked) {
  json::Object out;
  for (const auto& [key, question] : asked->questions) {
    auto answer = co_await call_->ask(question.method, question.params);
    if (!answer) co_return std::move(answer).error();
    if (!answer->is_object()) {
      co_return Error(ErrorCode::unavailable, "the client's answer is not as the protocol says");
    }
    out[key] = std::move(*answer);
  }
  co_return out;
}

void ServedMcpCall::leave() {
  {
    std::lock_guard lock(mutex_);
    is_left_ = true;
  }
  changed_.notify_all();
  call_ = nullptr;
  bell_.reset();
}

}  // namespace errand::sdk
