#include "cli/agent/run_command.hpp"

#include <optional>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/agent/agent_session.hpp"
#include "cli/agent/attached_file.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/agent/prompt_input.hpp"
#include "cli/show/follow.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "json/parse.hpp"
#include "json/place.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kSchemaBytesMax = std::size_t{1024} * 1024;  // servers take less

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<SchemaPtr> read_schema(const std::string& file) {
  auto text = read_whole_file(file, kSchemaBytesMax);
  if (!text) return wrong(cat("--output-schema: ", text.error().message()));
  auto schema = json::parse(*text);
  if (!schema) {
    return wrong(cat("--output-schema: ", json::in_file(file, *text, schema.error()).message()));
  }
  if (schema->is_object()) return share_schema(std::move(schema->get_object()));
  return wrong(cat("--output-schema ", file, ": expected a JSON Schema, which is an object"));
}

// A run from its creation to its end, cancelled by a signal.
class PromptRun final : public AgentWork {
 public:
  PromptRun(AgentSession& session, Spec spec) : session_(session), spec_(std::move(spec)) {}

  Task<int> work() override {
    spec_.tools = session_.spec().tools;
    run_.emplace(session_);
    auto end = co_await run_->ask(session_.api().create(spec_));
    if (end) co_await run_->sum_up(*end, OwnRun::Place::told);
    co_return run_->is_interrupted() ? kExitInterrupted : report_end(session_.printer(), end);
  }

  Task<void> clean_up() override { co_await run_->clean_up(); }

  void on_signal(int) override {
    if (!run_ || run_->is_interrupted()) leave_now(kExitInterrupted);
    session_.leave_after(OwnRun::kCancelGrace, kExitInterrupted);
    run_->interrupt();
  }

 private:
  AgentSession& session_;
  Spec spec_;
  std::optional<OwnRun> run_;  // created on the session's home
};

// A run that is left to the server, of which only the id is shown.
class DetachedRun final : public AgentWork {
 public:
  DetachedRun(AgentSession& session, Spec spec, Form form)
      : session_(session), spec_(std::move(spec)), form_(form) {}

  Task<int> work() override {
    auto made = co_await session_.api().create(spec_);
    if (!made) {
      Error error = with_way_out(made.error());
      co_return report_failure(session_.printer(), error, exit_code_of(error));
    }
    if (form_ == Form::json) co_return print_json(json::Object{{"runId", made->view()}});
    co_return print(cat(made->view(), "\n"));
  }

  Task<void> clean_up() override { co_return; }
  void on_signal(int) override { leave_now(kExitInterrupted); }

 private:
  AgentSession& session_;
  const Spec spec_;
  const Form form_;
};

// The tools of this process would end with it.
Result<void> check_detached(const AgentOptions& agent, const std::vector<ToolPtr>& tools) {
  if (is_embedded(agent)) {
    return wrong("--detach leaves the run to a server, and this run would be in this process");
  }
  if (tools.empty()) return {};
  return wrong(cat("with --detach, this command cannot answer calls of ",
                   tools.front()->decl().name, ": leave out the flags that lend tools"));
}

Result<void> attach_files(Spec& spec, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  Message message{.text = std::move(*std::exchange(spec.prompt, {}))};
  for (const std::string& file : files) {
    ERRAND_TRY(message.files.emplace_back(), read_attached_file(file));
  }
  spec.messages = {std::move(message)};
  return {};
}

}  // namespace

Result<Spec> make_run_spec(const RunOptions& options, Spec agent) {
  if (!options.output_schema.empty()) {
    ERRAND_TRY(auto schema, read_schema(options.output_schema));
    agent.output_schema = OutputSchema{.schema = std::move(schema)};
  }
  agent.name = options.name;
  ERRAND_TRY(agent.prompt, read_prompt(options.prompt, options.stdin_use));
  ERRAND_CHECK(attach_files(agent, options.attached));
  return agent;
}

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  Answer answer = options.output_schema.empty() ? Answer::streamed : Answer::final;
  AgentSession session(options.agent, make_printer(options.form, look_here(), answer));
  auto refuse = [&](const Error& error) {
    return report_failure(session.printer(), error, kExitUsage);
  };
  if (auto opened = session.open(); !opened) return refuse(opened.error());
  if (options.is_detached) {
    auto checked = check_detached(options.agent, session.tools());
    if (!checked) return refuse(checked.error());
  }
  auto spec = make_run_spec(options, session.spec());
  if (!spec) return refuse(spec.error());
  if (options.is_detached) {
    DetachedRun run(session, std::move(*spec), options.form);
    return session.run(run);
  }
  PromptRun run(session, std::move(*spec));
  return session.run(run);
}

}  // namespace errand::cli
