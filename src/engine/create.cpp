// How a run begins: what could change later is pinned, and all of it is one commit.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/engine.hpp"
#include "engine/kept_files.hpp"
#include "json/write.hpp"
#include "run/journal.hpp"
#include "tool/input_schema.hpp"

namespace errand::engine {

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

Result<OutputMechanism> Engine::resolve_output(const Spec& spec, const ToolDecls& tools,
                                               const llm::Model& model) {
  auto schema = compile_input_schema(schemas_, *spec.output_schema->schema);
  if (!schema) {
    std::string place = cat("/outputSchema/schema", schema.error().pointer());
    return std::move(schema).error().pointer(place);
  }
  return model.output_mechanism({.tools = tools, .output_schema = spec.output_schema->schema});
}

Result<CreatedEntry> Engine::resolve(const Principal& who, Spec spec, std::string_view model_id) {
  ERRAND_TRY(const CatalogModel* model, deps_.catalog.resolve(model_id));
  CreatedEntry entry{
      .model = model->info, .price = model->pricing, .at = deps_.clock.now(), .key = who.key};
  ERRAND_TRY(entry.tools, resolve_tools(spec.tools));
  if (spec.output_schema) {
    ERRAND_TRY(entry.output_mechanism, resolve_output(spec, entry.tools, *model->model));
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
  entry.ends_by = deps_.store.now() + entry.limits.run_time;
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
  ERRAND_CO_TRY(auto created, resolve(who, std::move(spec), model_id));
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
  NewRun run{.idempotency = std::move(idempotency), .effects = {.blobs = std::move(blobs)}};
  for (const JournalEntry& entry : journal) {
    append_journal_line(run.first.journal, entry);
    state->apply(entry);
  }
  const CreatedEntry& created = state->created();
  if (const ToolSetPtr& tools = created.spec.tools; !tools->hash.empty()) {
    run.effects.blobs.push_back({.hash = tools->hash, .bytes = {tools, &tools->text}});
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
             .ends_by = created.ends_by,
             .segments = 1};

  const RunRow row = run.row;
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await create_surely(std::move(run)));
  if (outcome.kind == Creation::existing) co_return outcome;
  if (outcome.kind == Creation::conflict) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  RunRow owned = row;
  owned.epoch = outcome.epoch;
  residency_.begin(owned, std::move(state));
  co_return outcome;
}

// If the outcome was lost, the store is read before the caller is told anything.
Task<Result<CreateOutcome>> Engine::create_surely(NewRun run) {
  const RunKey key = run.row.key();
  auto outcome = co_await deps_.store.create(std::move(run));
  if (outcome || outcome.error().code() != ErrorCode::outcome_unknown) co_return outcome;
  auto row = co_await deps_.store.find(key);
  if (!row) co_return outcome;
  co_return CreateOutcome{.kind = Creation::created, .run = key.run, .epoch = row->epoch};
}

}  // namespace errand::engine
