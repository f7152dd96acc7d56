#include "sdk/bridge/own_model.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "async/completion.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "llm/failure.hpp"
#include "sdk/api/values.hpp"

namespace errand::sdk {
namespace {

// Events that may wait for the run; a model that is further ahead has to wait.
constexpr std::size_t kEventsMax = 1000;

llm::Failed failed(std::string_view error_class, std::string_view message) {
  return {llm::make_failure(error_class, message)};
}

std::string_view class_of(v1::ErrorCode code) {
  switch (code) {
    case v1::ErrorCode::unavailable: return llm::error_class::kServer;
    case v1::ErrorCode::timeout: return llm::error_class::kTimeout;
    case v1::ErrorCode::rate_limited: return llm::error_class::kRateLimit;
    case v1::ErrorCode::unauthorized:
    case v1::ErrorCode::forbidden: return llm::error_class::kAuth;
    default: return llm::error_class::kInvalidRequest;
  }
}

// An answer on its way from the model's thread to the run's home. It lives until both have let go
// of it.
class Answer final : public v1::AnswerSink, public std::enable_shared_from_this<Answer> {
 public:
  explicit Answer(Executor home) : home_(std::move(home)), bell_(std::make_unique<Wakeup>(home_)) {}

  // Called on the model's thread.
  void text(std::string_view piece) override { push(llm::TextDelta{std::string(piece)}); }
  void thinking(std::string_view piece) override { push(llm::ThinkingDelta{std::string(piece)}); }
  void call(std::string_view tool, const v1::Json& arguments, std::string_view id) override {
    std::string provider_id = id.empty() ? cat("call_", calls_) : std::string(id);
    ++calls_;
    push(llm::CallClosed{.provider_id = std::move(provider_id),
                         .name = std::string(tool),
                         .arguments = arguments.dump()});
  }
  void usage(const v1::Usage& usage) override {
    usage_ = {.input_tokens = usage.input_tokens,
              .cached_tokens = usage.cached_tokens,
              .reasoning_tokens = usage.reasoning_tokens,
              .output_tokens = usage.output_tokens};
  }
  void finish_reason(std::string_view reason) override { reason_ = reason; }
  bool cancelled() const override {
    std::lock_guard lock(mutex_);
    return is_closed_;
  }

  void work(v1::Model& model, const v1::Question& question) {
    try {
      model.ask(question, *this);
      if (reason_.empty()) reason_ = calls_ > 0 ? "tool_use" : "end_turn";
      push(llm::Finished{.finish_reason = reason_, .usage = usage_});
    } catch (const v1::Error& error) {
      push(failed(class_of(error.code()), error.message()));
    } catch (const std::exception& error) {
      push(failed(llm::error_class::kInvalidRequest, error.what()));
    } catch (...) {
      push(failed(llm::error_class::kInvalidRequest, "the model failed for an unknown reason"));
    }
  }

  // Called on the home.
  Task<std::vector<llm::TurnEvent>> next() {
    for (;;) {
      std::vector<llm::TurnEvent> events = take();
      if (!events.empty()) co_return events;
      co_await bell_->wait();
    }
  }

  void close() {
    {
      std::lock_guard lock(mutex_);
      is_closed_ = true;
      events_.clear();
    }
    has_room_.notify_all();
    if (bell_) bell_->notify();
  }

  void leave() {
    close();
    bell_.reset();
  }

 private:
  void push(llm::TurnEvent event) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [this] { return is_closed_ || events_.size() < kEventsMax; });
    if (is_closed_) return;
    bool was_empty = events_.empty();
    events_.push_back(std::move(event));
    lock.unlock();
    if (!was_empty) return;
    post_from_outside(home_, [self = shared_from_this()] {
      if (self->bell_) self->bell_->notify();
    });
  }

  std::vector<llm::TurnEvent> take() {
    std::vector<llm::TurnEvent> events;
    {
      std::lock_guard lock(mutex_);
      events.swap(events_);
      if (is_closed_)
        events.emplace_back(failed(llm::error_class::kServer, "the answer is closed"));
    }
    has_room_.notify_all();
    return events;
  }

  const Executor home_;

  mutable std::mutex mutex_;
  std::condition_variable has_room_;
  std::vector<llm::TurnEvent> events_;
  bool is_closed_ = false;

  // Used on the model's thread.
  int calls_ = 0;
  Usage usage_;
  std::string reason_;

  std::unique_ptr<Wakeup> bell_;  // used on the home; null when nothing waits
};

class AnswerStream final : public llm::TurnStream {
 public:
  explicit AnswerStream(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  ~AnswerStream() override { answer_->leave(); }

  Task<std::vector<llm::TurnEvent>> next() override { return answer_->next(); }
  void abort() override { answer_->close(); }

 private:
  const std::shared_ptr<Answer> answer_;
};

// ---- Questions ----------------------------------------------------------------------------------

v1::Json arguments_or_text(const std::string& text) {
  return v1::detail::json_of_model(text.empty() ? "{}" : text).value_or(v1::Json(text));
}

using Attachments = std::vector<std::variant<v1::FileContent, v1::LinkContent>>;

Attachments attachments_of(const std::vector<FilePart>& files, const llm::TurnFiles* kept) {
  Attachments out;
  for (const FilePart& file : files) {
    if (!file.url.empty()) {
      out.emplace_back(
          v1::LinkContent{.url = file.url, .name = file.filename, .mime_type = file.mime_type});
      continue;
    }
    v1::FileContent content{.mime_type = file.mime_type, .name = file.filename};
    if (kept) {
      auto bytes = kept->bytes.find(file.sha256);
      if (bytes != kept->bytes.end() && bytes->second) content.bytes = *bytes->second;
    }
    out.emplace_back(std::move(content));
  }
  return out;
}

v1::QuestionMessage message_of(const Message& message, const llm::TurnFiles* files) {
  v1::QuestionMessage out{.role = static_cast<v1::Role>(message.role),
                          .text = message.text,
                          .attachments = attachments_of(message.files, files)};
  for (const ToolCallPart& call : message.calls) {
    out.calls.push_back({.id = call.provider_id,
                         .tool = call.name,
                         .arguments = arguments_or_text(call.arguments)});
  }
  for (const ToolResultPart& result : message.results) {
    out.results.push_back({.id = result.provider_id,
                           .tool = result.name,
                           .ok = result.ok,
                           .text = result.text,
                           .attachments = attachments_of(result.files, files)});
  }
  return out;
}
static_assert(static_cast<int>(v1::Role::assistant) == static_cast<int>(Role::assistant));

v1::Question question_of(const llm::TurnRequest& request) {
  v1::Question out{.system_prompt = *request.system_prompt,
                   .tools_off = request.tools_off,
                   .reasoning_level = request.reasoning_level,
                   .output_tokens_max = request.output_tokens_max};
  for (const llm::MessagePtr& message : request.messages) {
    out.messages.push_back(message_of(*message, request.files.get()));
  }
  for (const ToolDecl& tool : *request.tools) {
    out.tools.push_back({.name = tool.name,
                         .description = tool.description,
                         .input_schema = v1::detail::from_value(json::Value(*tool.input_schema))});
  }
  if (request.output_schema) {
    out.output_schema = v1::detail::from_value(json::Value(*request.output_schema));
    out.output_name = request.output_name;
  }
  return out;
}

class OwnModel final : public llm::Model {
 public:
  OwnModel(Handlers& handlers, std::shared_ptr<v1::Model> model)
      : handlers_(handlers), model_(std::move(model)) {}

  std::unique_ptr<llm::TurnStream> ask(llm::TurnRequest request) override {
    auto answer = std::make_shared<Answer>(handlers_.home());
    auto stream = std::make_unique<AnswerStream>(answer);
    bool is_taken = handlers_.ask_model([answer, model = model_, request = std::move(request)] {
      answer->work(*model, question_of(request));
    });
    if (!is_taken) answer->close();
    return stream;
  }
  // The model gets the schema as it is, and follows it as well as it can.
  OutputMechanism output_mechanism(const llm::TurnRequest&) const override {
    return OutputMechanism::native;
  }

 private:
  Handlers& handlers_;
  const std::shared_ptr<v1::Model> model_;
};

}  // namespace

std::unique_ptr<llm::Model> bridge_model(Handlers& handlers, std::shared_ptr<v1::Model> model) {
  return std::make_unique<OwnModel>(handlers, std::move(model));
}

}  // namespace errand::sdk
