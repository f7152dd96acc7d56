// The calls of a Runner: public values go to the core, and results come back.
#include <errand/runner.hpp>
#include <utility>

#include "base/text.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/bridge/public_events.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/client/runner_core.hpp"

namespace errand::v1 {
namespace {

using sdk::EventQueue;
using sdk::public_error;
using sdk::read_reply;
using sdk::value_or_throw;

RunId run_of(std::string_view id) {
  if (auto run = RunId::parse(id)) return *run;
  throw Error(ErrorCode::not_found, cat("there is no run \"", utf8_prefix(id, 80), "\""));
}

}  // namespace

std::string_view to_string(RunStatus status) {
  return status == RunStatus::waiting ? "waiting"
                                      : errand::to_string(static_cast<errand::RunStatus>(status));
}

namespace detail {

Error run_error(const Reply& reply) {
  bool is_cancelled = reply.status == RunStatus::cancelled;
  std::string message = is_cancelled ? "the run was cancelled" : "the run failed";
  if (!is_cancelled && !reply.error.empty()) append(message, ": ", reply.error);
  if (!reply.error_kind.empty()) append(message, " (", reply.error_kind, ")");
  return {is_cancelled ? ErrorCode::cancelled : ErrorCode::conflict,
          message,
          {},
          {.reason = is_cancelled ? "run_cancelled" : "run_failed",
           .run_id = reply.run_id,
           .text = reply.text}};
}

namespace {

Error unfit_output(const Reply& reply, std::string_view why, const Error& cause) {
  return {ErrorCode::invalid_argument,
          cat(why, cause.message()),
          cause.pointer(),
          {.reason = "output_invalid", .run_id = reply.run_id, .text = reply.text}};
}

}  // namespace

Error output_error(const Reply& reply, const Error& cause) {
  return unfit_output(reply, "the answer does not fit its type: ", cause);
}

// A server may accept a schema that cannot be compiled here. The answer then exists, and goes to
// the program with the error.
Result<Json> output_value(const Reply& reply, const Json* schema) {
  Result<Json> value = Json::parse(reply.text);
  if (!value) return unfit_output(reply, "the answer is not JSON: ", value.error());
  if (!schema) return value;
  try {
    if (auto error = CheckedSchema(*schema).check(*value)) {
      return unfit_output(reply, "the answer does not fit its schema: ", *error);
    }
  } catch (const Error& wrong) {
    return unfit_output(reply, "the schema of the answer cannot be checked here: ",
                        Error(wrong.code(), wrong.describe()));
  }
  return value;
}

std::exception_ptr run_exception(const Error& error) {
  if (error.reason() == "run_failed" || error.reason() == "run_cancelled") {
    return std::make_exception_ptr(RunError(error));
  }
  if (error.reason() == "output_invalid") return std::make_exception_ptr(OutputError(error));
  return std::make_exception_ptr(error);
}

void throw_run_error(const Error& error) {
  std::rethrow_exception(run_exception(error));
}

}  // namespace detail

// ---- Runner -------------------------------------------------------------------------------------

Runner::Runner(std::shared_ptr<sdk::RunnerCore> core) : core_(std::move(core)) {}

Runner::~Runner() {
  core_->close();
}

Result<Reply> Runner::try_run(RunOptions options) const {
  auto run = core_->follow(std::move(options), EventQueue::Keep::end_only);
  if (!run) return public_error(run.error());
  return read_reply((*run)->events());
}

Reply Runner::run(RunOptions options) const {
  Result<Reply> reply = try_run(std::move(options));
  if (!reply) detail::throw_run_error(reply.error());
  return *std::move(reply);
}

AsyncRun Runner::run_async(RunOptions options, std::function<void(Result<Reply>)> done) const {
  return {core_, core_->follow_async(std::move(options), std::move(done))};
}

void Runner::stream_async(RunOptions options, std::function<void(Result<RunStream>)> done) const {
  core_->stream_async(std::move(options), [core = core_, done = std::move(done)](auto run) {
    if (!run) return done(public_error(run.error()));
    std::string id = (*run)->run().str();
    done(RunStream(core, *std::move(run), std::move(id)));
  });
}

void Runner::attach_async(std::string_view run_id, AttachOptions options,
                          std::function<void(Result<RunStream>)> done) const {
  core_->attach_async(run_of(run_id), std::move(options),
                      [core = core_, done = std::move(done)](auto run) {
                        if (!run) return done(public_error(run.error()));
                        std::string id = (*run)->run().str();
                        done(RunStream(core, *std::move(run), std::move(id)));
                      });
}

void Runner::cancel_async(std::string_view run_id,
                          std::function<void(Result<RunStatus>)> done) const {
  core_->tell<errand::RunStatus>(
      [core = core_.get(), run = run_of(run_id)] { return core->cancel(run); },
      [done = std::move(done)](errand::Result<errand::RunStatus> status) {
        if (!status) return done(public_error(status.error()));
        done(static_cast<RunStatus>(*status));
      });
}

RunStream Runner::stream(RunOptions options) const {
  auto run = value_or_throw(core_->follow(std::move(options), EventQueue::Keep::all));
  std::string id = run->run().str();
  return {core_, std::move(run), std::move(id)};
}

std::string Runner::start(RunOptions options) const {
  return value_or_throw(core_->start(std::move(options))).str();
}

RunStream Runner::attach(std::string_view run_id, AttachOptions options) const {
  auto run = value_or_throw(core_->attach(run_of(run_id), std::move(options)));
  return {core_, std::move(run), std::string(run_id)};
}

RunStatus Runner::cancel(std::string_view run_id) const {
  RunId run = run_of(run_id);
  auto status = value_or_throw(
      core_->wait<errand::RunStatus>([core = core_.get(), run] { return core->cancel(run); }));
  return static_cast<RunStatus>(status);
}

RunInfo Runner::get(std::string_view run_id) const {
  RunId run = run_of(run_id);
  return sdk::public_info(value_or_throw(core_->wait<sdk::RunInfo>([core = core_.get(), run] {
    return core->persist<sdk::RunInfo>([core, run] { return core->api().get(run); });
  })));
}

RunPage Runner::list(RunQuery query) const {
  sdk::RunQuery asked{.metadata = {query.metadata.begin(), query.metadata.end()},
                      .limit = query.limit,
                      .cursor = query.cursor};
  if (query.status) asked.status = static_cast<errand::RunStatus>(*query.status);
  return sdk::public_page(
      value_or_throw(core_->wait<sdk::RunPage>([core = core_.get(), asked = std::move(asked)] {
        return core->persist<sdk::RunPage>([core, asked] { return core->api().list(asked); });
      })));
}

void Runner::answer(std::string_view run_id, std::string_view call_id,
                    const ToolResult& result) const {
  RunId run = run_of(run_id);
  auto call = ToolUseId::parse(call_id);
  if (!call) throw Error(ErrorCode::not_found, "this is not the id of a call");
  value_or_throw(core_->wait<bool>(
      [core = core_.get(), run, call, answer = sdk::answer_of(sdk::outcome_of(result))] {
        return core->answer(run, *call, answer);
      }));
}

ModelList Runner::models() const {
  return sdk::public_models(value_or_throw(core_->wait<engine::ModelList>([core = core_.get()] {
    return core->persist<engine::ModelList>([core] { return core->api().models({}); });
  })));
}

// ---- AsyncRun -----------------------------------------------------------------------------------

AsyncRun::AsyncRun(std::weak_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::AskedRun> run)
    : core_(std::move(core)), run_(std::move(run)) {}

void AsyncRun::cancel() const {
  if (auto core = core_.lock()) core->cancel_async(run_);
}

// ---- RunStream ----------------------------------------------------------------------------------

RunStream::RunStream(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::Following> run,
                     std::string run_id)
    : core_(std::move(core)), run_(std::move(run)), run_id_(std::move(run_id)) {}

RunStream::RunStream() = default;
RunStream::RunStream(RunStream&&) noexcept = default;

RunStream& RunStream::operator=(RunStream&& other) noexcept {
  if (run_) core_->abandon(run_);
  core_ = std::move(other.core_);
  run_ = std::move(other.run_);
  run_id_ = std::move(other.run_id_);
  return *this;
}

RunStream::~RunStream() {
  if (run_) core_->abandon(run_);
}

Result<std::optional<Event>> RunStream::try_next() {
  if (!run_) return std::optional<Event>();
  return run_->events().next();
}

void RunStream::next_async(std::function<void(Result<std::optional<Event>>)> done) {
  if (!run_) return done(std::optional<Event>());
  run_->events().next_async(std::move(done));
}

std::optional<Event> RunStream::next() {
  return try_next().value();
}

Result<Reply> RunStream::try_reply() {
  if (!run_) return Error(ErrorCode::conflict, "this stream belongs to no run");
  return read_reply(run_->events());
}

Reply RunStream::reply() {
  Result<Reply> reply = try_reply();
  if (!reply) detail::throw_run_error(reply.error());
  return *std::move(reply);
}

void RunStream::cancel() {
  if (!run_) return;
  value_or_throw(core_->wait<errand::RunStatus>(
      [core = core_.get(), run = run_->run()] { return core->cancel(run); }));
}

}  // namespace errand::v1
