#include "support/a2a_tck/fixture.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "base/text.hpp"

namespace errand::a2a::tck {
namespace {

template <class T>
using Async = ::errand::Task<T>;

// The kit's streaming timeout, in which its scenarios measure how long a task works.
constexpr milliseconds kStreamingTimeout = seconds(2);

bool is_at_rest(TaskState state) {
  return is_terminal(state) || is_interrupted(state);
}

Error no_task() {
  return {ErrorCode::not_found, "there is no such task"};
}

bool is_supported(std::string_view type) {
  return type.empty() || type.starts_with("text/") || type.starts_with("image/") ||
         type == "application/json";
}

Result<void> check_types(const Message& message) {
  for (const Part& part : message.parts) {
    const auto* file = std::get_if<FilePart>(&part);
    if (!file || is_supported(file->mime_type)) continue;
    return Error(ErrorCode::unsupported, cat("incompatible content types: files of the type ",
                                             file->mime_type, " are not supported"))
        .reason(TaskBackend::kMediaType);
  }
  return {};
}

// Longer beginnings come before those that they contain.
std::optional<Part> wanted_artifact(std::string_view message_id) {
  auto begins = [message_id](std::string_view text) { return message_id.starts_with(text); };
  FilePart file{.name = "output.txt", .mime_type = "text/plain"};
  if (begins("tck-artifact-file-url")) {
    file.url = "https://example.com/output.txt";
    return file;
  }
  if (begins("tck-artifact-file") || begins("tck-stream-artifact-file")) {
    file.base64 = "dGNr";
    return file;
  }
  if (begins("tck-artifact-data")) return DataPart{json::Object{{"key", "value"}, {"count", 42}}};
  if (begins("tck-artifact-text")) return TextPart{"Generated text content"};
  if (begins("tck-stream-artifact-text")) return TextPart{"Streamed text content"};
  if (begins("tck-stream-001")) return TextPart{"Stream hello from TCK"};
  if (begins("tck-stream-003")) return TextPart{"Stream task lifecycle"};
  if (begins("tck-stream-ordering-001")) return TextPart{"Ordered output"};
  return {};
}

void report_bug(const char* task, const std::string& what) {
  std::cerr << task << ": " << what << std::endl;
  std::abort();
}

}  // namespace

// Waits for news of a task.
class Fixture::Reader final : public TaskSource {
 public:
  Reader(const Executor& home, std::shared_ptr<Kept> kept)
      : bell_(home),
        kept_(std::move(kept)),
        at_(kept_->readers.insert(kept_->readers.end(), &bell_)) {}
  ~Reader() override { kept_->readers.erase(at_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Async<Batch> read(SteadyTime deadline) override {
    using State = net::EventFeed::State;
    while (next_ == kept_->events.size() && !is_interrupted_) {
      if (is_terminal(kept_->task.status.state)) co_return Batch{.state = State::ended};
      auto woken = co_await bell_.wait_until(deadline);
      if (woken == Wakeup::Woken::timed_out) co_return Batch{.state = State::idle};
    }
    if (is_interrupted_) co_return Batch{.state = State::broken};
    Batch batch;
    while (next_ < kept_->events.size()) batch.events.push_back(kept_->events[next_++]);
    co_return batch;
  }
  void interrupt() override {
    is_interrupted_ = true;
    bell_.notify();
  }

 private:
  Wakeup bell_;
  const std::shared_ptr<Kept> kept_;
  const std::list<Wakeup*>::iterator at_;
  std::size_t next_ = 0;
  bool is_interrupted_ = false;
};

Fixture::Fixture(Executor home, Timers& timers, const Clock& clock)
    : home_(std::move(home)), timers_(timers), clock_(clock), tasks_(home_, report_bug) {}

Fixture::Kept* Fixture::find(const std::string& id) {
  auto found = kept_.find(id);
  return found == kept_.end() ? nullptr : found->second.get();
}

void Fixture::set_state(Kept& kept, TaskState state, std::string text) {
  kept.task.status = {.state = state, .timestamp = to_iso8601(clock_.now())};
  if (!text.empty()) {
    kept.task.status.message = Message{.id = cat(kept.task.id, "-", kept.events.size()),
                                       .role = Role::agent,
                                       .parts = {TextPart{std::move(text)}},
                                       .context_id = kept.task.context_id,
                                       .task_id = kept.task.id};
  }
  kept.events.emplace_back(StatusUpdate{
      .task_id = kept.task.id, .context_id = kept.task.context_id, .status = kept.task.status});
  for (Wakeup* reader : kept.readers) reader->notify();
}

void Fixture::add_artifact(Kept& kept, ArtifactUpdate update) {
  update.task_id = kept.task.id;
  update.context_id = kept.task.context_id;
  update.artifact.id = "artifact";
  kept.events.emplace_back(update);
  apply(kept.task, std::move(update));
}

void Fixture::add_artifact(Kept& kept, Part part) {
  add_artifact(kept, {.artifact = {.parts = {std::move(part)}}, .last_chunk = true});
}

Fixture::Kept& Fixture::begin_task(Message message) {
  Task task{.id = cat("task-", ++last_id_)};
  task.context_id = message.context_id.empty() ? cat("context-", last_id_) : message.context_id;
  task.status = {.state = TaskState::submitted, .timestamp = to_iso8601(clock_.now())};
  message.task_id = task.id;
  message.context_id = task.context_id;
  task.history.push_back(std::move(message));
  auto kept = std::make_shared<Kept>(Kept{.task = task, .begin = task});
  return *kept_.emplace(task.id, std::move(kept)).first->second;
}

Async<void> Fixture::complete_later(std::string id, milliseconds work, std::string text) {
  co_await timers_.sleep_until(timers_.now() + work);
  Kept* kept = find(id);
  if (!kept || is_terminal(kept->task.status.state)) co_return;
  set_state(*kept, TaskState::completed, std::move(text));
}

void Fixture::work_for(Kept& kept, milliseconds work, std::string text) {
  set_state(kept, TaskState::working);
  tasks_.spawn("complete", complete_later(kept.task.id, work, std::move(text)));
}

// What the kit's scenarios demand of a message.
void Fixture::act(Kept& kept, std::string_view message_id) {
  auto begins = [message_id](std::string_view text) { return message_id.starts_with(text); };
  if (begins("test-resubscribe-message-id")) return work_for(kept, 2 * kStreamingTimeout);
  if (begins("tck-delayed-complete")) return work_for(kept, kStreamingTimeout, "Done after delay");
  if (begins("tck-input-required") || !begins("tck-")) {
    return set_state(kept, TaskState::input_required, "What else?");
  }
  if (begins("tck-auth-required")) return set_state(kept, TaskState::auth_required, "Who asks?");
  if (begins("tck-reject-task")) return set_state(kept, TaskState::rejected, "Rejected.");
  if (begins("tck-complete-task")) return set_state(kept, TaskState::completed, "Hello from TCK");
  if (begins("tck-stream-002")) return set_state(kept, TaskState::completed);
  if (begins("tck-stream")) set_state(kept, TaskState::working);
  if (begins("tck-stream-artifact-chunked")) {
    add_artifact(kept, {.artifact = {.parts = {TextPart{"chunk-1 "}}}});
    add_artifact(
        kept, {.artifact = {.parts = {TextPart{"chunk-2"}}}, .append = true, .last_chunk = true});
  } else if (auto part = wanted_artifact(message_id)) {
    add_artifact(kept, std::move(*part));
  }
  set_state(kept, TaskState::completed);
}

Async<Result<std::variant<std::string, Message>>> Fixture::take(Message message) {
  using Taken = std::variant<std::string, Message>;
  ERRAND_CO_CHECK(check_types(message));
  const std::string message_id = message.id;
  if (message.task_id.empty()) {
    if (message_id.starts_with("tck-message-response")) {
      co_return Taken(Message{.id = cat("answer-", ++last_id_),
                              .role = Role::agent,
                              .parts = {TextPart{"Direct message response"}},
                              .context_id = cat("context-", last_id_)});
    }
    Kept& kept = begin_task(std::move(message));
    act(kept, message_id);
    co_return Taken(kept.task.id);
  }
  Kept* kept = find(message.task_id);
  if (!kept) co_return no_task();
  if (!message.context_id.empty() && message.context_id != kept->task.context_id) {
    co_return Error(ErrorCode::invalid_argument, "the task is of another context")
        .pointer("/message/contextId");
  }
  if (is_terminal(kept->task.status.state)) {
    co_return Error(ErrorCode::conflict, "the task is over");
  }
  message.context_id = kept->task.context_id;
  kept->task.history.push_back(std::move(message));
  act(*kept, message_id);
  co_return Taken(kept->task.id);
}

Async<Result<void>> Fixture::wait(std::string id) {
  auto found = kept_.find(id);
  if (found == kept_.end()) co_return no_task();
  Reader reader(home_, found->second);
  while (!is_at_rest(found->second->task.status.state)) {
    auto batch = co_await reader.read(SteadyTime::max());
    if (batch.state != net::EventFeed::State::more) break;
  }
  co_return Result<void>();
}

Async<Result<Task>> Fixture::get(std::string id) {
  Kept* kept = find(id);
  if (!kept) co_return no_task();
  co_return kept->task;
}

Async<Result<std::vector<Task>>> Fixture::list(std::string context_id) {
  std::vector<Task> tasks;
  for (const auto& [id, kept] : kept_) {
    if (!context_id.empty() && kept->task.context_id != context_id) continue;
    tasks.push_back({.id = id, .context_id = kept->task.context_id, .status = kept->task.status});
  }
  co_return tasks;
}

Async<Result<void>> Fixture::cancel(std::string id) {
  Kept* kept = find(id);
  if (!kept) co_return no_task();
  if (is_terminal(kept->task.status.state)) {
    co_return Error(ErrorCode::conflict, "the task is over").reason(kNotCancelable);
  }
  set_state(*kept, TaskState::canceled);
  co_return Result<void>();
}

Async<Result<OpenTask>> Fixture::open(std::string id) {
  auto found = kept_.find(id);
  if (found == kept_.end()) co_return no_task();
  co_return OpenTask{.task = found->second->begin,
                     .source = std::make_unique<Reader>(home_, found->second)};
}

json::Object Fixture::card(std::string_view url) {
  auto at = [url](std::string_view version) {
    return json::Object{{"url", url}, {"protocolBinding", "JSONRPC"}, {"protocolVersion", version}};
  };
  json::Object skill{{"id", "tck"},
                     {"name", "Compatibility"},
                     {"description", "Does what the compatibility kit of A2A asks for."},
                     {"tags", json::Array{"tck"}}};
  return {{"name", "errand-tck"},
          {"description", "The agent that the compatibility kit of A2A asks for."},
          {"version", "1.0.0"},
          {"protocolVersion", "0.3.0"},
          {"url", url},
          {"preferredTransport", "JSONRPC"},
          {"supportedInterfaces", json::Array{at("1.0"), at("0.3")}},
          {"capabilities", json::Object{{"streaming", true}, {"pushNotifications", false}}},
          {"defaultInputModes", json::Array{"text/plain", "application/json"}},
          {"defaultOutputModes", json::Array{"text/plain", "application/json"}},
          {"skills", json::Array{std::move(skill)}}};
}

}  // namespace errand::a2a::tck
