#include "sdk/client/runner_core.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "sdk/bridge/handler_services.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/toolbox.hpp"

namespace errand::sdk {
namespace {

HandlerServices with_time(HandlerServices services,
                          std::function<std::chrono::system_clock::time_point()> now) {
  services.now = std::move(now);
  return services;
}

}  // namespace

RunnerCore::RunnerCore(Options options)
    : options_(std::move(options)),
      io_(options_.loop ? *options_.loop : own_loop_.emplace(1)),
      home_(io_),
      timers_(home_),
      handlers_(home_.executor(), timers_, options_.handlers.threads_max,
                with_time(services_of(options_.handlers), options_.now)),
      tasks_(home_.executor(), bugs_to(teller_of(options_.handlers))),
      closing_(home_.executor(), bugs_to(teller_of(options_.handlers))) {
  if (options_.loop) return;
  work_.emplace(asio::make_work_guard(io_));
  thread_ = std::thread([this] { io_.run(); });
}

RunnerCore::~RunnerCore() {
  close();
}

Result<void> RunnerCore::open(const MakeBackend& make) {
  const Surroundings around{.io = io_, .home = home_, .timers = timers_, .handlers = handlers_};
  if (options_.loop) {
    ERRAND_TRY(backend_, make(around));
    return {};
  }
  auto opened = std::make_shared<Pending<bool>>();
  post([this, opened, &make, &around] {
    auto made = make(around);
    if (made) backend_ = std::move(*made);
    opened->set(made ? Result<bool>(true) : Result<bool>(made.error()));
  });
  auto result = opened->get();
  if (!result) return result.error();
  return {};
}

bool RunnerCore::post(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (is_closed_) return false;
  asio::post(io_, std::move(work));
  return true;
}

// All work that was posted before is done, or cut off, when the loop ends.
void RunnerCore::close() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true) || options_.loop) return;
    asio::post(io_, [this] { closing_.spawn("close", shut_down()); });
  }
  thread_.join();
  handlers_.close();
}

Task<void> RunnerCore::stop() {
  is_closed_ = true;
  co_await shut_down();
}

Task<void> RunnerCore::shut_down() {
  co_await tasks_.stop(CancelReason::shutdown);
  for (const auto& worker : std::exchange(workers_, {})) co_await worker->stop();
  runs_.merge(retiring_);
  for (const Followed& run : std::exchange(runs_, {})) co_await run->stop();
  if (backend_) co_await backend_->stop();
  if (servers_) {
    co_await servers_->local.stop();
    co_await servers_->in_process.stop();
  }
  work_.reset();
}

// ---- Runs ---------------------------------------------------------------------------------------

Result<RunnerCore::Followed> RunnerCore::follow(v1::RunOptions options, EventQueue::Keep keep) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(options));
  return wait<Followed>([this, shared, keep] { return make_run(shared, keep, nullptr); });
}

// ---- Runs without a thread that waits -----------------------------------------------------------

std::shared_ptr<AskedRun> RunnerCore::follow_async(v1::RunOptions options,
                                                   ReplyPromise::Done done) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(options));
  auto reply = std::make_shared<ReplyPromise>(std::move(done));
  auto run = std::make_shared<AskedRun>();
  post([this, shared, reply, run] {
    tasks_.spawn("call", make_for(make_run(shared, EventQueue::Keep::end_only, reply), reply, run));
  });
  return run;
}

std::shared_ptr<AskedRun> RunnerCore::say_async(std::shared_ptr<const SessionCore> session,
                                                v1::RunOptions message, ReplyPromise::Done done) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(message));
  auto reply = std::make_shared<ReplyPromise>(std::move(done));
  auto run = std::make_shared<AskedRun>();
  post([this, session = std::move(session), shared, reply, run] {
    tasks_.spawn("call",
                 make_for(say_in(session, shared, EventQueue::Keep::end_only, reply), reply, run));
  });
  return run;
}

Task<void> RunnerCore::make_for(Task<Result<Followed>> making, Reply reply,
                                std::shared_ptr<AskedRun> run) {
  auto made = co_await std::move(making);
  if (!made) co_return reply->set(public_error(made.error()));
  run->id = (*made)->run();
  if (run->is_unwanted) tasks_.spawn("cancel", cancel_asked(*run->id));
}

void RunnerCore::cancel_async(std::shared_ptr<AskedRun> run) {
  post([this, run = std::move(run)] {
    if (std::exchange(run->is_unwanted, true) || !run->id) return;
    tasks_.spawn("cancel", cancel_asked(*run->id));
  });
}

// If a run cannot be cancelled, it has ended, or the reply says what is wrong.
Task<void> RunnerCore::cancel_asked(RunId run) {
  [[maybe_unused]] auto status = co_await cancel(std::move(run));
}

void RunnerCore::stream_async(v1::RunOptions options, Callback<Followed>::Done done) {
  auto shared = std::make_shared<v1::RunOptions>(std::move(options));
  tell<Followed>([this, shared] { return make_run(shared, EventQueue::Keep::all, nullptr); },
                 std::move(done));
}

void RunnerCore::attach_async(RunId run, v1::AttachOptions options, Callback<Followed>::Done done) {
  auto shared = std::make_shared<v1::AttachOptions>(std::move(options));
  tell<Followed>([this, run, shared] { return join_run(run, shared); }, std::move(done));
}

Result<RunId> RunnerCore::start(v1::RunOptions options) {
  options.answer_calls = options.answer_calls && backend_->called_by() == CalledBy::engine;
  auto run = follow(std::move(options), EventQueue::Keep::end_only);
  if (!run) return run.error();
  abandon(*run);
  return (*run)->run();
}

Result<RunnerCore::Followed> RunnerCore::attach(RunId run, v1::AttachOptions options) {
  auto shared = std::make_shared<v1::AttachOptions>(std::move(options));
  return wait<Followed>([this, run, shared] { return join_run(run, shared); });
}

Task<Result<RunnerCore::Followed>> RunnerCore::make_run(std::shared_ptr<v1::RunOptions> options,
                                                        EventQueue::Keep keep, Reply reply) {
  ERRAND_CO_TRY(auto inherited, co_await prompt_of_fork(options));
  ERRAND_CO_TRY(auto request, read_request(*options, rules(Says::something), inherited));
  const Answers answers = options->answer_calls ? Answers::here : Answers::elsewhere;
  ERRAND_CO_TRY(auto tools, co_await gather(AskedTools::of(*options), answers));
  add_refs(request, std::move(tools.lent.refs));
  ERRAND_CO_TRY(auto run, co_await create(std::move(request), options));
  Following::Params params = params_for(run);
  params.keep = keep;
  let_answer(params, std::move(tools.tools), tools.elicitation, options->answer_calls);
  params.lease = std::move(tools.lent.lease);
  params.reply = std::move(reply);
  if (options->tool_timeout.count() > 0) params.tool_timeout = options->tool_timeout;
  co_return add(std::move(params));
}

// An engine in this process calls the tools of its runs itself, but cannot ask a user.
void RunnerCore::let_answer(Following::Params& params, std::vector<ToolPtr> tools,
                            const ToolPtr& elicitation, bool answers_calls) const {
  const bool is_client = backend_->called_by() == CalledBy::client;
  params.tools = std::move(tools);
  if (elicitation) params.tools.push_back(elicitation);
  params.answers = answers_calls && (is_client || elicitation);
}

std::string RunnerCore::key_of(const v1::RunOptions& options) const {
  bool is_remote = backend_->called_by() == CalledBy::client;
  if (!options.idempotency_key.empty() || !is_remote) return options.idempotency_key;
  return cat("sdk-", crypto::random_hex(16));
}

Task<Result<RunId>> RunnerCore::create(RunRequest request,
                                       std::shared_ptr<v1::RunOptions> options) {
  std::string key = key_of(*options);
  auto body = std::make_shared<const json::Object>(request.body);
  std::optional<RunId> from;
  ForkParams fork;
  if (options->fork_of) {
    ERRAND_CO_TRY(from, forked_run(*options->fork_of));
    fork = fork_params(request, *options->fork_of);
  }
  co_return co_await persist<RunId>([this, from, fork, key, body, spec = request.spec] {
    return from ? api().fork(*from, fork, key, body) : api().create(spec, key, body);
  });
}

Task<Result<std::string>> RunnerCore::prompt_of_fork(std::shared_ptr<v1::RunOptions> options) {
  if (!options->fork_of || !needs_inherited_prompt(*options)) co_return std::string();
  ERRAND_CO_TRY(auto from, forked_run(*options->fork_of));
  using Journal = std::vector<JournalEntry>;
  ERRAND_CO_TRY(auto journal,
                co_await persist<Journal>([this, from] { return api().journal(from); }));
  for (const JournalEntry& entry : journal) {
    if (const auto* created = std::get_if<CreatedEntry>(&entry)) {
      co_return created->spec.system_prompt;
    }
  }
  co_return std::string();
}

// Answers calls that wait when the run is joined, and later ones.
Task<Result<RunnerCore::Followed>> RunnerCore::join_run(
    RunId run, std::shared_ptr<v1::AttachOptions> options) {
  ERRAND_CO_TRY(auto tools, co_await gather(AskedTools::of(*options), Answers::elsewhere));
  ERRAND_CO_TRY(auto info, co_await persist<RunInfo>([this, run] { return api().get(run); }));
  Following::Params params = params_for(run);
  params.after = options->after_seq;
  params.tools = std::move(tools.tools);
  if (tools.elicitation) params.tools.push_back(tools.elicitation);
  params.answers = !params.tools.empty() && !is_terminal(info.status);
  params.calls_after = info.last_seq;
  Followed followed = add(std::move(params));
  for (const LocalToolCall& call : info.pending) followed->answer(call);
  co_return followed;
}

Task<Result<RunStatus>> RunnerCore::cancel(RunId run) {
  return persist<RunStatus>([this, run] { return api().cancel(run, kAnswerMax); });
}

Task<Result<bool>> RunnerCore::answer(RunId run, ToolUseId call, ToolAnswer answer) {
  ERRAND_CO_CHECK(co_await api().answer(run, call, std::move(answer)));
  co_return true;
}

// ---- Workers ------------------------------------------------------------------------------------

namespace {

Result<void> check(const v1::Toolkit& toolkit, const v1::WorkerOptions& options) {
  if (toolkit.tools().empty()) {
    return Error(ErrorCode::invalid_argument,
                 cat("the toolkit ", toolkit.name(), " has no tools to serve"))
        .pointer("/toolkit");
  }
  if (options.calls_max == 0) {
    return Error(ErrorCode::invalid_argument, "a worker runs at least one call at a time")
        .pointer("/calls_max");
  }
  if (options.claim < Serving::kClaimMin || options.claim > Serving::kClaimMax) {
    return Error(ErrorCode::invalid_argument, "a claim lasts 100 ms to 24 h").pointer("/claim");
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Serving>> RunnerCore::serve(const v1::Toolkit& toolkit,
                                                   v1::WorkerOptions options) {
  ERRAND_CHECK(check(toolkit, options));
  return ask<std::shared_ptr<Serving>>([this, &toolkit, options] {
    auto serving = std::make_shared<Serving>(
        Serving::Params{.api = api(),
                        .timers = timers_,
                        .home = home_.executor(),
                        .tell = teller_of(options_.handlers),
                        .tools = bridge_toolkit(handlers_, toolkit),
                        .calls_max = options.calls_max,
                        .claim = options.claim,
                        .on_error = options.on_error ? options.on_error : log_failures()});
    workers_.insert(serving);
    serving->start();
    return serving;
  });
}

std::function<void(const v1::Error&)> RunnerCore::log_failures() const {
  return [tell = teller_of(options_.handlers)](const v1::Error& error) {
    tell(cat("a worker: ", error.describe()));
  };
}

Task<Result<bool>> RunnerCore::finish(std::shared_ptr<Serving> serving) {
  if (!workers_.contains(serving)) co_return true;
  co_await serving->finish();
  workers_.erase(serving);
  co_return true;
}

Following::Params RunnerCore::params_for(const RunId& run) {
  return {.api = api(),
          .timers = timers_,
          .home = home_.executor(),
          .run = run,
          .patience = options_.patience,
          .tell = teller_of(options_.handlers),
          .on_end = [this](Followed ended) { retire(std::move(ended)); }};
}

RunnerCore::Followed RunnerCore::add(Following::Params params) {
  auto run = std::make_shared<Following>(std::move(params));
  runs_.insert(run);
  run->start();
  return run;
}

RunnerCore::Followed RunnerCore::read(const RunId& run, Reading reading) {
  Following::Params params = params_for(run);
  params.after = reading.after;
  params.first_failure = reading.first_failure;
  params.tools = std::move(reading.tools);
  params.answers = reading.answers;
  params.refuses_others = reading.answers;
  params.calls_after = reading.calls_after;
  params.on_end = {};
  auto followed = std::make_shared<Following>(std::move(params));
  runs_.insert(followed);
  return followed;
}

Task<void> RunnerCore::leave(Followed run) {
  runs_.erase(run);
  co_await run->stop();
}

void RunnerCore::abandon(const Followed& run) {
  run->events().abandon();
  // If the engine calls the tools, the run holds them until it ends.
  if (backend_->called_by() == CalledBy::engine) return;
  post([this, run] { retire(run); });
}

void RunnerCore::retire(Followed run) {
  if (runs_.erase(run) == 0) return;
  retiring_.insert(run);
  tasks_.spawn("run.retire", stop_one(std::move(run)));
}

Task<void> RunnerCore::stop_one(Followed run) {
  co_await run->stop();
  retiring_.erase(run);
}

}  // namespace errand::sdk
