#include "cli/agent/run_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "cli/agent/agent_session.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "json/parse.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kPromptBytesMax =
    std::size_t{32} * 1024 * 1024;                                 // what a server takes at most
constexpr std::size_t kSchemaBytesMax = std::size_t{1024} * 1024;  // servers take less

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::string> read_stdin() {
  std::string text;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return wrong(cat("cannot read stdin: ", std::generic_category().message(errno)));
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > kPromptBytesMax) return wrong("the prompt on stdin is too long");
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> prompt_of(const RunOptions& options) {
  std::string prompt = options.prompt;
  if (prompt == "-") {
    ERRAND_TRY(prompt, read_stdin());
  }
  if (prompt.empty()) return wrong("the prompt is empty");
  return prompt;
}

Result<SchemaPtr> read_schema(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kSchemaBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return wrong(cat("--output-schema: cannot read the file ", file));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kSchemaBytesMax) {
    return wrong(cat("--output-schema ", file, ": the file is too large for a schema"));
  }
  auto schema = json::parse(text);
  if (!schema) return wrong(cat("--output-schema ", file, ": ", schema.error().describe()));
  if (schema->is_object()) return share_schema(std::move(schema->get_object()));
  return wrong(cat("--output-schema ", file, ": expected a JSON Schema, which is an object"));
}

// A run from its creation to its end, cancelled by a signal.
class PromptRun final : public AgentWork {
 public:
  PromptRun(AgentSession& session, Spec spec) : session_(session), spec_(std::move(spec)) {}

  Task<int> work() override {
    run_.emplace(session_);
    auto end = co_await run_->ask(session_.api().create(spec_));
    if (end) co_await run_->sum_up(*end);
    co_return run_->is_interrupted() ? kExitInterrupted : report_end(end);
  }

  Task<void> clean_up() override { co_await run_->clean_up(); }

  void on_signal(int) override {
    if (!run_ || run_->is_interrupted()) leave_now(kExitInterrupted);
    session_.leave_after(OwnRun::kCancelGrace, kExitInterrupted);
    run_->interrupt();
  }

 private:
  AgentSession& session_;
  const Spec spec_;
  std::optional<OwnRun> run_;  // made on the session's home
};

}  // namespace

Result<Spec> make_run_spec(const RunOptions& options, Spec agent) {
  if (!options.output_schema.empty()) {
    ERRAND_TRY(auto schema, read_schema(options.output_schema));
    agent.output_schema = OutputSchema{.schema = std::move(schema)};
  }
  ERRAND_TRY(agent.prompt, prompt_of(options));
  return agent;
}

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  AgentSession session(options.agent, make_printer(options.form, look_here()));
  if (auto opened = session.open(); !opened) return fail_usage(opened.error());
  auto spec = make_run_spec(options, session.spec());
  if (!spec) return fail_usage(spec.error());
  PromptRun run(session, std::move(*spec));
  return session.run(run);
}

}  // namespace errand::cli
