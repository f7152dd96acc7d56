#include "server/a2a/run_backend.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "a2a/codec.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/write.hpp"
#include "run/elicitation.hpp"
#include "server/a2a/run_task.hpp"
#include "store/segment_events.hpp"

namespace errand::server {
namespace {

using Feed = net::EventFeed::State;
using From = engine::Subscription::Batch::State;

constexpr std::size_t kRunsPerRead = 100;

Error no_task() {
  return {ErrorCode::not_found, "there is no such task"};
}
Error shutting_down() {
  return {ErrorCode::unavailable, "the server is shutting down; ask for the task later"};
}

// What a message asks of a new run.
struct Asked {
  Spec spec;
  std::string fingerprint;  // of the whole message
};

Result<Asked> read_asked(const a2a::Message& message) {
  ERRAND_TRY(auto spec, spec_of(message));
  std::string text = json::write(a2a::to_json(message, a2a::Version::v10));
  return Asked{.spec = std::move(spec), .fingerprint = crypto::to_hex(crypto::sha256(text))};
}

// A message may hold files, so it is parsed on the pool.
Task<Result<Asked>> read_beside(BlockingPool* pool, std::shared_ptr<const a2a::Message> message) {
  auto read = [message] { return read_asked(*message); };
  if (!pool) co_return read();
  auto asked = co_await pool->run(read);
  co_return asked;
}

// Reads files that are stored beside the log of a run, at most RunBackend::kTaskFileBytesMax in
// all.
class FileReader final {
 public:
  FileReader(Store& store, RunKey run) : store_(store), run_(std::move(run)) {}

  // The file as a part, or words that name it.
  Task<a2a::Part> read(FilePart file) {
    a2a::FilePart out{.name = file.filename, .mime_type = file.mime_type, .url = file.url};
    if (!file.url.empty()) co_return out;
    const auto size = static_cast<std::size_t>(file.size);
    Result<std::string> bytes = Error(ErrorCode::too_large, "");
    if (size <= left_) bytes = co_await store_.read_blob(run_, file.sha256);
    if (!bytes) co_return a2a::TextPart{cat("[The file ", file.filename, " is left out.]")};
    left_ -= size;
    out.base64 = to_base64(*bytes);
    co_return out;
  }

 private:
  Store& store_;
  const RunKey run_;
  std::size_t left_ = RunBackend::kTaskFileBytesMax;
};

Task<std::vector<a2a::Artifact>> file_artifacts(engine::Engine* engine,
                                                const engine::RunView* view) {
  FileReader reader(engine->store(), view->row.key());
  std::vector<a2a::Artifact> artifacts;
  for (const GivenFile& given : given_files(*view->state)) {
    a2a::Part part = co_await reader.read(given.file);
    artifacts.push_back(artifact_of(given, std::move(part)));
  }
  co_return artifacts;
}

// Turns the events of a run into those of its task, from the beginning of the run.
class RunSource final : public a2a::TaskSource {
 public:
  RunSource(engine::Engine& engine, Principal who, const a2a::Task& task, RunId run,
            std::unique_ptr<engine::Subscription> subscription)
      : engine_(engine),
        who_(std::move(who)),
        run_(std::move(run)),
        subscription_(std::move(subscription)),
        events_(task.id, task.context_id) {}

  Task<Batch> read(SteadyTime deadline) override {
    auto batch = co_await subscription_->next(deadline);
    if (batch.state == From::broken) co_return Batch{.state = Feed::broken};
    if (batch.state == From::idle) co_return Batch{.state = Feed::idle};
    for (const SegmentPtr& segment : batch.segments) {
      for_each_event(*segment, batch.after, [this](std::string_view line) {
        // A line that cannot be read is skipped; 'errand check-data' finds it.
        auto event = errand::parse_event(line);
        if (event) events_.take(event->event);
      });
    }
    if (events_.has_question()) co_await tell_question();
    if (events_.wants_files()) co_await tell_files();
    co_return Batch{.state = batch.state == From::ended ? Feed::ended : Feed::more,
                    .events = events_.drain()};
  }
  void interrupt() override { subscription_->interrupt(); }

 private:
  // The question in the log may have been answered since, so the run is asked for its pending one.
  Task<void> tell_question() {
    auto view = co_await engine_.get(who_, run_);
    const engine::PendingCall* question = view ? question_of(*view) : nullptr;
    if (question) events_.tell_question(*question);
  }

  // A run that was removed meanwhile has no files left.
  Task<void> tell_files() {
    auto view = co_await engine_.get(who_, run_);
    std::vector<a2a::Artifact> files;
    if (view) files = co_await file_artifacts(&engine_, &*view);
    events_.tell_files(std::move(files));
  }

  engine::Engine& engine_;
  const Principal who_;
  const RunId run_;
  const std::unique_ptr<engine::Subscription> subscription_;
  TaskEvents events_;
};

// Whether these events may contain a question to the client.
bool has_question(const engine::Subscription::Batch& batch) {
  return std::any_of(batch.segments.begin(), batch.segments.end(), [](const SegmentPtr& segment) {
    return segment->events.find(kElicitationTool) != std::string::npos;
  });
}

enum class Until : std::uint8_t { at_rest, over };

// Returns when the run has ended in whatever way, or waits for its client.
Task<Result<void>> wait_for(engine::Engine* engine, Principal who, RunId run, Until until) {
  ERRAND_CO_TRY(auto subscription, co_await engine->subscribe(who, run, 0));
  for (;;) {
    auto batch = co_await subscription->next(SteadyTime::max());
    if (batch.state == From::ended) co_return Result<void>();
    if (batch.state == From::broken) co_return shutting_down();
    if (until == Until::over || !has_question(batch)) continue;
    ERRAND_CO_TRY(auto view, co_await engine->get(who, run));
    if (question_of(view)) co_return Result<void>();
  }
}

}  // namespace

Idempotency RunBackend::once(std::string_view what, const std::string& message_id,
                             std::string fingerprint) const {
  return {.key = cat("a2a:", what, ":", agent_.id, ":", message_id),
          .fingerprint = std::move(fingerprint)};
}

Task<Result<SessionId>> RunBackend::context_of(std::string context_id, Idempotency idempotency) {
  if (!context_id.empty()) {
    Error unknown = Error(ErrorCode::invalid_argument, "this agent has no such context")
                        .pointer("/message/contextId");
    auto session = SessionId::parse(context_id);
    if (!session) co_return unknown;
    auto view = co_await engine_.get_session(who_, *session);
    if (!view && view.error().code() != ErrorCode::not_found) co_return std::move(view).error();
    if (!view || view->params.spec.agent_id != agent_.id) co_return unknown;
    co_return *session;
  }
  engine::SessionParams params;
  params.spec.agent_id = agent_.id;
  params.spec.metadata.emplace_back(kTaskAgentKey, agent_.id);
  auto made = co_await engine_.create_session(who_, std::move(params), std::move(idempotency));
  co_return made;
}

Task<Result<std::variant<std::string, a2a::Message>>> RunBackend::take(a2a::Message message) {
  auto taking = message.task_id.empty() ? start(std::move(message)) : answer(std::move(message));
  auto run = co_await std::move(taking);
  if (!run) co_return std::move(run).error();
  co_return std::variant<std::string, a2a::Message>(run->str());
}

Task<Result<RunId>> RunBackend::start(a2a::Message message) {
  const std::string id = message.id;
  const std::string context_id = message.context_id;
  auto kept = std::make_shared<const a2a::Message>(std::move(message));
  ERRAND_CO_TRY(auto asked, co_await read_beside(engine_.pool(), std::move(kept)));
  ERRAND_CO_TRY(auto session,
                co_await context_of(context_id, once("context", id, asked.fingerprint)));
  engine::SessionMessage said{.said = std::move(asked.spec)};
  said.overrides.metadata = Metadata{{std::string(kTaskMessageKey), id}};
  auto run =
      co_await engine_.send(who_, session, std::move(said), once("message", id, asked.fingerprint));
  co_return run;
}

// Only a task that waits for its client takes a message.
Task<Result<RunId>> RunBackend::answer(a2a::Message message) {
  ERRAND_CO_TRY(auto view, co_await find_run(message.task_id));
  const std::string context_id = task_of(view.row).context_id;
  if (!message.context_id.empty() && message.context_id != context_id) {
    co_return Error(ErrorCode::invalid_argument, "the task is of another context")
        .pointer("/message/contextId");
  }
  if (is_terminal(view.row.status)) {
    co_return Error(ErrorCode::conflict,
                    "the task is over; send the message with its contextId alone");
  }
  const engine::PendingCall* question = question_of(view);
  if (!question) co_return Error(ErrorCode::conflict, "the task does not wait for input");
  ERRAND_CO_TRY(auto answer, answer_to(*question, message));
  ERRAND_CO_CHECK(co_await engine_.answer(
      who_, view.row.id, {.tool_use_id = question->box.slot, .answer = std::move(answer)}));
  co_return view.row.id;
}

Task<Result<engine::RunView>> RunBackend::find_run(std::string id) {
  auto run = RunId::parse(id);
  if (!run) co_return no_task();
  auto view = co_await engine_.get(who_, *run);
  if (!view && view.error().code() == ErrorCode::not_found) co_return no_task();
  if (!view) co_return std::move(view).error();
  if (view->state->created().spec.agent_id != agent_.id) co_return no_task();
  co_return view;
}

Task<Result<void>> RunBackend::wait(std::string id) {
  auto run = RunId::parse(id);
  if (!run) co_return no_task();
  auto waited = co_await wait_for(&engine_, who_, *run, Until::at_rest);
  co_return waited;
}

// The log names files by their hashes, and a task shows their bytes. The answer comes last.
Task<Result<a2a::Task>> RunBackend::whole_task(const engine::RunView* view) {
  a2a::Task task = task_of(*view);
  if (!task.artifacts.empty()) {
    auto files = co_await file_artifacts(&engine_, view);
    task.artifacts.insert(task.artifacts.begin(), std::make_move_iterator(files.begin()),
                          std::make_move_iterator(files.end()));
  }
  const std::vector<Message>& said = view->state->created().spec.messages;
  if (said.empty()) co_return task;
  FileReader reader(engine_.store(), view->row.key());
  std::size_t next = 0;
  for (a2a::Part& part : task.history.front().parts) {
    if (!std::holds_alternative<a2a::FilePart>(part)) continue;
    a2a::Part read = co_await reader.read(said.back().files[next++]);
    part = std::move(read);
  }
  co_return task;
}

Task<Result<a2a::Task>> RunBackend::get(std::string id) {
  ERRAND_CO_TRY(auto view, co_await find_run(std::move(id)));
  auto task = co_await whole_task(&view);
  co_return task;
}

Task<Result<std::vector<a2a::Task>>> RunBackend::list(std::string context_id) {
  RunFilter filter{
      .workspace = who_.workspace,
      .metadata = {{std::string(kTaskAgentKey), agent_.id}, {std::string(kAgentLabel), agent_.id}},
      .limit = kRunsPerRead};
  std::vector<a2a::Task> tasks;
  if (!context_id.empty()) {
    filter.session = SessionId::parse(context_id);
    if (!filter.session) co_return tasks;
  }
  bool may_ask = false;
  for (bool is_end = false; !is_end && tasks.size() < kListedMax;) {
    ERRAND_CO_TRY(auto runs, co_await engine_.list(filter));
    for (const RunRow& row : runs) {
      may_ask = may_ask || !is_terminal(row.status);
      tasks.push_back(task_of(row));
    }
    is_end = runs.size() < filter.limit;
    if (!runs.empty()) filter.before = runs.back().id;
  }
  if (!may_ask) co_return tasks;
  CallFilter questions{
      .workspace = who_.workspace, .name = std::string(kElicitationTool), .limit = kListedMax};
  ERRAND_CO_TRY(auto asked, co_await engine_.pending_calls(std::move(questions), milliseconds(0)));
  std::set<std::string> waiting;
  for (const engine::PendingCall& call : asked) waiting.insert(call.box.run.str());
  for (a2a::Task& task : tasks) {
    if (waiting.contains(task.id)) task.status.state = a2a::TaskState::input_required;
  }
  co_return tasks;
}

Task<Result<void>> RunBackend::cancel(std::string id) {
  ERRAND_CO_TRY(auto view, co_await find_run(std::move(id)));
  if (is_terminal(view.row.status)) {
    co_return Error(ErrorCode::conflict, "the task is over").reason(kNotCancelable);
  }
  const RunId run = view.row.id;
  auto cancelled = co_await engine_.cancel(who_, run);
  if (!cancelled) co_return std::move(cancelled).error();
  auto ended = co_await wait_for(&engine_, who_, run, Until::over);
  co_return ended;
}

Task<Result<a2a::OpenTask>> RunBackend::open(std::string id) {
  ERRAND_CO_TRY(auto view, co_await find_run(std::move(id)));
  ERRAND_CO_TRY(auto task, co_await whole_task(&view));
  // The stream will tell these things in their order, so they are left out here.
  task.artifacts.clear();
  task.metadata.clear();
  task.status.message.reset();
  if (task.status.state != a2a::TaskState::submitted) task.status.state = a2a::TaskState::working;
  ERRAND_CO_TRY(auto subscription, co_await engine_.subscribe(who_, view.row.id, 0));
  auto source =
      std::make_unique<RunSource>(engine_, who_, task, view.row.id, std::move(subscription));
  co_return a2a::OpenTask{.task = std::move(task), .source = std::move(source)};
}

}  // namespace errand::server
