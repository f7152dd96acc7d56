#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/call_errors.hpp"
#include "engine/kept_files.hpp"
#include "engine/whole_log.hpp"
#include "json/parse.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"
#include "run/journal.hpp"
#include "tool/input_schema.hpp"

namespace errand::engine {

Engine::Engine(Deps deps, Limits limits)
    : deps_(deps),
      limits_(limits),
      lease_(deps.timers),
      surroundings_{.home = deps.home,
                    .store = deps.store,
                    .clock = deps.clock,
                    .timers = deps.timers,
                    .ids = deps.ids,
                    .tools = deps.tools,
                    .schemas = schemas_,
                    .log = deps.log,
                    .lease = lease_,
                    .counters = counters_},
      tasks_(deps.home.executor(), [this](const char* task, const std::string& what) {
        deps_.log.error("a task of the engine failed; this is a bug",
                        {{"task", task}, {"what", what}});
      }) {}

Engine::~Engine() = default;

// Of many tools few are called: a schema that surely compiles waits for its first call.
Result<void> Engine::check_schema(OfferedTool& tool, std::string_view pointer) {
  if (json::is_plain_schema(*tool.decl.input_schema)) return {};
  auto schema = compile_input_schema(schemas_, *tool.decl.input_schema);
  if (!schema) {
    std::string place = cat(pointer, tool.schema_pointer, schema.error().pointer());
    return std::move(schema).error().pointer(place);
  }
  tool.decl.checker = std::move(*schema);
  return {};
}

Result<ToolDecls> Engine::resolve_tools(ToolSetPtr& tools) {
  if (tools->offered) return tools->offered;
  std::vector<ToolDecl> decls;
  bool has_host_tools = false;
  for (std::size_t i = 0; i < tools->refs.size(); ++i) {
    const ToolRef& ref = tools->refs[i];
    if (const auto* host = std::get_if<HostTool>(&ref)) {
      Tool* tool = deps_.tools.find(host->name);
      if (!tool) {
        return Error(ErrorCode::invalid_argument,
                     cat("there is no tool called \"", host->name, "\""))
            .pointer(cat("/tools/", i, "/name"));
      }
      decls.push_back(tool->decl());
      has_host_tools = true;
      continue;
    }
    for (OfferedTool& tool : offered_tools(ref)) {
      ERRAND_CHECK(check_schema(tool, cat("/tools/", i)));
      decls.push_back(std::move(tool.decl));
    }
  }
  ToolDecls offered = share_decls(std::move(decls));
  if (!has_host_tools) {
    bool is_large = tools->text.size() >= kToolsBesideBytesMin;
    tools = std::make_shared<const ToolSet>(
        ToolSet{.refs = tools->refs,
                .text = tools->text,
                .hash = is_large ? crypto::to_hex(crypto::sha256(tools->text)) : "",
                .offered = offered});
    tool_sets_.insert(tools);
  }
  return offered;
}

Result<OutputMechanism> Engine::resolve_output(const Spec& spec, const std::vector<ToolDecl>& tools,
                                               const llm::Model& model) {
  auto schema = compile_input_schema(schemas_, *spec.output_schema->schema);
  if (!schema) {
    std::string place = cat("/outputSchema/schema", schema.error().pointer());
    return std::move(schema).error().pointer(place);
  }
  const std::vector<Message> nothing_said;
  return model.output_mechanism({.system_prompt = spec.system_prompt,
                                 .messages = nothing_said,
                                 .tools = tools,
                                 .output_schema = spec.output_schema->schema});
}

Result<CreatedEntry> Engine::resolve(Spec spec, std::string_view model_id) {
  ERRAND_TRY(const CatalogModel* model, deps_.catalog.resolve(model_id));
  CreatedEntry entry{.model = model->info, .at = deps_.clock.now()};
  ERRAND_TRY(entry.tools, resolve_tools(spec.tools));
  if (spec.output_schema) {
    ERRAND_TRY(entry.output_mechanism, resolve_output(spec, *entry.tools, *model->model));
  }
  if (spec.reasoning_level) {
    entry.model.reasoning_effort = reasoning_effort(*spec.reasoning_level);
  }
  const Budgets& budgets = spec.budgets;
  entry.limits = {
      .local_tool_timeout = budgets.local_tool_timeout.value_or(limits_.local_tool_timeout),
      .on_local_tool_timeout = budgets.on_local_tool_timeout.value_or(OnTimeout::fail),
      .max_tool_turns = budgets.max_tool_turns.value_or(limits_.max_tool_turns),
      .run_time = limits_.run_time,
      .on_turns_exceeded = budgets.on_turns_exceeded.value_or(OnTurnsExceeded::fail),
      .loop = loop_limits(spec.loop_detection),
      .tool_budgets = budgets_in_force(spec.tool_budgets)};
  // A budget of a tool that the run does not have says nothing, and would be kept with every run.
  std::erase_if(entry.limits.tool_budgets, [&entry](const auto& budget) {
    return std::none_of(entry.tools->begin(), entry.tools->end(),
                        [&](const ToolDecl& tool) { return tool.name == budget.first; });
  });
  entry.spec = std::move(spec);
  return entry;
}

Task<Result<RunId>> Engine::create(Principal who, Spec spec, Idempotency idempotency) {
  std::string model_id = spec.model_id;
  if (deps_.catalog.depends_on_source(model_id)) co_await deps_.catalog.refresh();
  std::vector<RunBlob> blobs;
  for (Message& message : spec.messages) {
    for (RunBlob& blob : take_bytes(message.files)) blobs.push_back(std::move(blob));
  }
  ERRAND_CO_TRY(auto created, resolve(std::move(spec), model_id));
  std::vector<JournalEntry> journal;
  journal.reserve(2);
  journal.emplace_back(std::move(created));
  journal.emplace_back(TurnEntry{.turn = 0, .attempt = 1, .after_seq = 0});
  ERRAND_CO_TRY(auto outcome,
                co_await begin(who, std::move(journal), std::move(blobs), std::move(idempotency)));
  co_return outcome.run;
}

Task<Result<CreateOutcome>> Engine::begin(Principal who, std::vector<JournalEntry> journal,
                                          std::vector<RunBlob> blobs, Idempotency idempotency) {
  ERRAND_ASSERT_HOME(deps_.home);
  if (draining_) {
    co_return Error(ErrorCode::unavailable, "the server is shutting down and takes no new runs")
        .reason("draining");
  }
  auto state = std::make_unique<agent::State>();
  NewRun run{.idempotency = std::move(idempotency), .blobs = std::move(blobs)};
  for (const JournalEntry& entry : journal) {
    append_journal_line(run.first.journal, entry);
    state->apply(entry);
  }
  const CreatedEntry& created = state->created();
  if (const ToolSetPtr& tools = created.spec.tools; !tools->hash.empty()) {
    run.blobs.push_back({.hash = tools->hash, .bytes = {tools, &tools->text}});
  }
  run.first.at = created.at;
  run.row = {.id = deps_.ids.make<RunIdTag>("run_"),
             .workspace = who.workspace,
             .status = RunStatus::running,
             .name = created.spec.name,
             .model_id = created.model.id,
             .metadata = json::write(metadata_json(created.spec)),
             .created_at = created.at,
             .updated_at = created.at,
             .ends_by = created.at + created.limits.run_time,
             .segments = 1};

  RunRow row = run.row;
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.create(std::move(run)));
  if (outcome.kind == Creation::existing) co_return outcome;
  if (outcome.kind == Creation::conflict) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  row.epoch = outcome.epoch;
  if (stopping_) co_return outcome;  // durable: the next process goes on with it
  LivePtr live = make_live(row);
  live->attach(std::make_unique<agent::AgentRun>(
      surroundings_, *deps_.catalog.find(row.model_id)->model, *live,
      agent::AgentRun::Params{.row = row, .state = std::move(state), .mail = {}}));
  co_return outcome;
}

Task<Result<void>> Engine::answer(Principal who, RunId run, CallAnswer answer) {
  std::vector<RunBlob> blobs = take_bytes(answer.answer.files);
  Mail mail{.workspace = who.workspace,
            .run = run,
            .slot = std::move(answer.tool_use_id),
            .kind = MailKind::tool_result,
            .body = to_mail_body(answer.answer),
            .claim_id = std::move(answer.claim_id),
            .blobs = std::move(blobs)};
  Mailbox filled{
      .run = run, .slot = mail.slot, .kind = mail.kind, .filled = true, .body = mail.body};
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.mail(std::move(mail)));
  switch (outcome) {
    case MailOutcome::unknown_run:
      co_return Error(ErrorCode::not_found, cat("there is no run \"", run.view(), "\""));
    case MailOutcome::run_ended:
      co_return Error(ErrorCode::conflict, "the run has ended").reason("run_terminal");
    case MailOutcome::unknown_slot: co_return call_not_pending(filled.slot);
    case MailOutcome::claimed: co_return call_claimed(filled.slot);
    case MailOutcome::accepted: break;
  }
  deliver(who.workspace, std::move(filled));
  co_return Result<void>();
}

Task<Result<RunStatus>> Engine::cancel(Principal who, RunId run) {
  constexpr std::string_view kReason = "user";
  Mailbox filled{.run = run,
                 .slot = std::string(kCancelSlot),
                 .kind = MailKind::cancel,
                 .filled = true,
                 .body = std::string(kReason)};
  Mail mail{.workspace = who.workspace,
            .run = run,
            .slot = filled.slot,
            .kind = filled.kind,
            .body = filled.body};
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.mail(std::move(mail)));
  if (outcome == MailOutcome::unknown_run) {
    co_return Error(ErrorCode::not_found, cat("there is no run \"", run.view(), "\""));
  }
  if (outcome == MailOutcome::run_ended) {
    ERRAND_CO_TRY(auto row, co_await deps_.store.find(who.workspace, run));
    co_return row.status;
  }
  if (outcome == MailOutcome::accepted) deliver(who.workspace, std::move(filled));
  co_return RunStatus::cancelled;
}

Task<Result<std::unique_ptr<Subscription>>> Engine::subscribe(Principal who, RunId run,
                                                              EventSeq after) {
  LivePtr live = find_live(run);
  if (live && live->workspace() != who.workspace) live = nullptr;
  if (!live) {
    ERRAND_CO_TRY(auto row, co_await deps_.store.find(who.workspace, run));
    live = find_live(run);
    if (!live) live = make_live(row);
  }
  co_return std::make_unique<Subscription>(deps_.store, std::move(live), after,
                                           deps_.home.executor());
}

Task<Result<EventsPage>> Engine::events(Principal who, RunId run, EventSeq after,
                                        std::size_t bytes_max) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find(who.workspace, run));
  EventsPage page{.after = after, .last_seq = row.last_seq};
  ERRAND_CO_TRY(page.segments, co_await deps_.store.read_events(run, after, bytes_max));
  co_return page;
}

Task<Result<JournalPage>> Engine::journal(Principal who, RunId run, std::size_t after,
                                          std::size_t limit, std::size_t bytes_max) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find(who.workspace, run));
  ERRAND_CO_TRY(auto text, co_await read_whole_journal(&deps_.store, row.id));
  JournalPage page;
  std::size_t bytes = 0;
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (number++ < after) continue;
    page.has_more = page.entries.size() >= limit || bytes >= bytes_max;
    if (page.has_more) break;
    ERRAND_CO_TRY(auto entry,
                  json::parse(line, {.duplicate_keys = json::DuplicateKeys::last_wins}));
    json::redact_secrets(entry);
    page.entries.push_back(json::write(entry));
    bytes += page.entries.back().size();
  }
  co_return page;
}

Task<Result<RunView>> Engine::get(Principal who, RunId run) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find(who.workspace, run));
  ERRAND_CO_TRY(auto state, co_await fold(run));
  ERRAND_CO_TRY(auto mail, co_await deps_.store.mailboxes(run));
  RunView view{.row = std::move(row), .state = std::move(state)};
  for (Mailbox& box : mail) {
    if (!box.filled) view.pending.push_back(shown(std::move(box)));
  }
  co_return view;
}

Task<Result<std::vector<RunRow>>> Engine::list(RunFilter filter) {
  co_return co_await deps_.store.list(std::move(filter));
}

void Engine::drain() {
  draining_ = true;
  tell_watchers();
}

Engine::LivePtr Engine::make_live(const RunRow& row) {
  auto live = std::make_shared<LiveRun>(row, keeper());
  live_[row.id] = live;
  return live;
}

Engine::LivePtr Engine::find_live(const RunId& run) const {
  auto found = live_.find(run);
  return found == live_.end() ? nullptr : found->second;
}

void Engine::deliver(const WorkspaceSlug& workspace, Mailbox mail) {
  LivePtr live = find_live(mail.run);
  if (live && live->agent()) return live->deliver(std::move(mail));
  // It is in the store, where the run is read from; what is delivered twice is folded once. A run
  // that is being claimed may have been read before, so its mail waits here.
  RunId run = mail.run;
  if (!live && recovering_) live = make_live({.id = run, .workspace = workspace});
  if (live) live->deliver(std::move(mail));
  wake(workspace, run);
}

// The agent tells of its own end from inside one of its tasks, so it is destroyed from outside.
void Engine::on_end(LiveRun& run) {
  LivePtr live = find_live(run.id());
  if (!live) return;
  end_waiting(run);
  if (live->agent()) tasks_.spawn("engine.destroy", destroy(live, live->detach()));
  ended_.push_back(run.id());
  if (ended_.size() <= kEndedRunsMax) return;
  LivePtr oldest = find_live(ended_.front());
  ended_.pop_front();
  if (oldest && !oldest->has_readers()) live_.erase(oldest->id());
}

Task<void> Engine::destroy(LivePtr, std::unique_ptr<agent::AgentRun> agent) {
  co_await agent->stop(CancelReason::shutdown);
}

}  // namespace errand::engine
