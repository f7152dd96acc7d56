// How a run begins: what could change later is pinned, and all of it is one commit.
#include <algorithm>
#include <set>
#include <utility>

#include "agent/file_bytes.hpp"
#include "agent/turn_files.hpp"
#include "async/read_aside.hpp"
#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/engine.hpp"
#include "engine/id_bounds.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/records/agents.hpp"
#include "engine/schema_work.hpp"
#include "json/write.hpp"
#include "run/log/journal.hpp"
#include "tool/input_schema.hpp"

namespace errand::engine {
namespace {

// The name under which a text is kept beside the journals of runs; empty if it stands in them.
std::string hash_if_large(const std::string& text) {
  bool is_large = text.size() >= kToolsBesideBytesMin;
  return is_large ? crypto::to_hex(crypto::sha256(text)) : "";
}

// The parser has checked the names in the spec. The names that a source gives its tools are known
// only here.
Result<void> check_names(const std::vector<ToolDecl>& tools) {
  bool has_bound = std::any_of(tools.begin(), tools.end(),
                               [](const ToolDecl& tool) { return tool.site == ToolSite::host; });
  if (!has_bound) return {};
  std::set<std::string_view> names;
  for (const ToolDecl& tool : tools) {
    if (names.insert(tool.name).second) continue;
    return Error(ErrorCode::invalid_argument, cat("two tools are called \"", tool.name, "\""))
        .pointer("/tools");
  }
  return {};
}

// Turns the room of a spec, and the toolkits that the spec requires there, into a tool ref.
Result<void> take_room_in(Spec& spec) {
  if (!spec.room) {
    if (spec.required_toolkits.empty()) return {};
    return Error(ErrorCode::invalid_argument, "required toolkits need a \"room\" to be in")
        .pointer("/requiredToolkits");
  }
  RoomRef room{.name = spec.room->name,
               .url = spec.room->url,
               .participant = spec.name.empty() ? "agent" : spec.name,
               .required = std::move(spec.required_toolkits)};
  if (!spec.room->token.empty()) room.headers.emplace_back("authorization", spec.room->token);
  std::vector<ToolRef> refs = spec.tools->refs;
  refs.emplace_back(std::move(room));
  ToolSet tools{.refs = std::move(refs)};
  tools.warnings = spec.tools->warnings;
  spec.tools = std::make_shared<const ToolSet>(std::move(tools));
  spec.room.reset();
  spec.required_toolkits.clear();
  return {};
}

// Few of many tools are ever called: a schema that certainly compiles is compiled at its first
// call.
Result<void> check_schema(json::SchemaCache& schemas, OfferedTool& tool, std::string_view pointer) {
  const SchemaPtr& output = tool.decl.output_schema;
  if (output && !json::is_plain_schema(*output)) {
    auto schema = compile_input_schema(schemas, *output);
    if (!schema) {
      std::string place = cat(pointer, "/outputSchema", schema.error().pointer());
      return std::move(schema).error().pointer(place);
    }
  }
  if (json::is_plain_schema(*tool.decl.input_schema)) return {};
  auto schema = compile_input_schema(schemas, *tool.decl.input_schema);
  if (!schema) {
    std::string place = cat(pointer, tool.schema_pointer, schema.error().pointer());
    return std::move(schema).error().pointer(place);
  }
  tool.decl.checker = std::move(*schema);
  return {};
}

// What each ref of a set stands for in this process, in the order of the refs. Absent: a server has
// to be asked. Empty: no source here knows the ref, which may describe its tools itself.
using KnownTools = std::vector<std::optional<std::vector<ToolDecl>>>;

// The set with all the tools that it offers. Takes time in proportion to the length of its text.
Result<ToolSetPtr> whole_tool_set(json::SchemaCache& schemas, const ToolSet& tools,
                                  KnownTools known) {
  std::vector<ToolDecl> decls;
  for (std::size_t i = 0; i < tools.refs.size(); ++i) {
    if (!known[i]) continue;
    for (ToolDecl& tool : *known[i]) decls.push_back(std::move(tool));
    if (!known[i]->empty()) continue;
    for (OfferedTool& tool : offered_tools(tools.refs[i])) {
      ERRAND_CHECK(check_schema(schemas, tool, cat("/tools/", i)));
      decls.push_back(std::move(tool.decl));
    }
  }
  ERRAND_CHECK(check_names(decls));
  ToolSet whole{.refs = tools.refs, .text = tools.text, .hash = {}};
  whole.offered = share_decls(std::move(decls));
  whole.bindings = bindings_of(*whole.offered);
  whole.hash = hash_if_large(whole.text);
  whole.bindings_hash = hash_if_large(whole.bindings);
  whole.warnings = tools.warnings;
  return std::make_shared<const ToolSet>(std::move(whole));
}

// Only the number of patterns is logged, because the patterns are the caller's data.
void tell_unchecked_patterns(Log& log, const RunRow& run, const CreatedEntry& created) {
  const std::size_t count = unchecked_patterns(created.spec);
  if (count == 0) return;
  log.info("a run has patterns that are not checked", {{"run", run.id.str()},
                                                       {"workspace", run.workspace.str()},
                                                       {"requestId", created.request_id},
                                                       {"patterns", std::to_string(count)}});
}

// The first entries of a run, as journal lines and folded.
struct Beginning {
  std::string journal;
  std::unique_ptr<agent::State> state = std::make_unique<agent::State>();
};

// The journal's memory is reserved at once: a growing string is copied, and takes up to three times
// its size meanwhile.
Beginning take_in(std::vector<JournalEntry> entries, std::size_t rough_bytes) {
  constexpr std::size_t kOtherBytesPerEntry = 256;
  Beginning out;
  out.journal.reserve(rough_bytes + entries.size() * kOtherBytesPerEntry);
  for (JournalEntry& one : entries) {
    append_journal_line(out.journal, one);
    out.state->apply(std::move(one));
  }
  return out;
}

// Roughly the length of an entry's line, without what is always short or kept beside the journal.
struct RoughBytes {
  std::size_t operator()(const CreatedEntry& entry) const {
    std::size_t bytes = entry.spec.system_prompt.size();
    if (entry.spec.prompt) bytes += entry.spec.prompt->size();
    for (const Message& message : entry.spec.messages) bytes += message.text.size();
    return bytes;
  }
  std::size_t operator()(const CallEntry& entry) const {
    return entry.arguments.size() + entry.text.size() + bytes_of(entry.blocks);
  }
  std::size_t operator()(const TurnEndEntry& entry) const {
    return entry.text.size() + bytes_of(entry.blocks);
  }
  std::size_t operator()(const OutcomeEntry& entry) const { return entry.text.size(); }
  template <class Other>
  std::size_t operator()(const Other&) const {
    return 0;
  }
  static std::size_t bytes_of(const std::vector<std::string>& blocks) {
    std::size_t bytes = 0;
    for (const std::string& block : blocks) bytes += block.size();
    return bytes;
  }
};

std::size_t rough_bytes(const std::vector<JournalEntry>& entries) {
  std::size_t bytes = 0;
  for (const JournalEntry& entry : entries) bytes += std::visit(RoughBytes(), entry);
  return bytes;
}

// Large tools are kept beside the journal.
void add_tools(const ToolSetPtr& tools, std::vector<RunBlob>& blobs) {
  if (!tools->hash.empty()) {
    blobs.push_back({.hash = tools->hash, .bytes = {tools, &tools->text}});
  }
  if (!tools->bindings_hash.empty()) {
    blobs.push_back({.hash = tools->bindings_hash, .bytes = {tools, &tools->bindings}});
  }
}

}  // namespace

// The tools that a ref stands for in this process; empty if no source here knows it.
Result<std::vector<ToolDecl>> Engine::bind(const ToolRef& ref, std::size_t index,
                                           const Principal& who) {
  auto bound = deps_.tools.bind(ref, who);
  if (!bound) {
    std::string place = cat("/tools/", index, bound.error().pointer());
    return std::move(bound).error().pointer(place);
  }
  for (ToolDecl& tool : *bound) tool.origin.ref = index;
  return bound;
}

Task<Result<ToolSetPtr>> Engine::resolve_tools(ToolSetPtr tools, StoredTools stored,
                                               Principal who) {
  if (tools->offered) co_return tools;
  KnownTools known(tools->refs.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (deps_.tools.is_remote(tools->refs[i])) continue;
    auto found = stored.find(i);
    if (found != stored.end()) {
      known[i] = std::move(found->second);
    } else {
      ERRAND_CO_TRY(known[i], bind(tools->refs[i], i, who));
    }
  }
  BlockingPool* pool = tools->text.size() > kBytesInABreath ? deps_.pool : nullptr;
  auto resolve = [tools = std::move(tools), known = std::move(known),
                  schemas = schemas_]() mutable {
    const ToolSetPtr sent = std::move(tools);  // freed here: a large one takes long
    return whole_tool_set(*schemas, *sent, std::move(known));
  };
  ERRAND_CO_TRY(auto whole, co_await run_aside(pool, std::move(resolve)));
  // A set with stored tools is not cached: they differ between workspaces and change over time.
  if (stored.empty()) tool_sets_.insert(whole);
  co_return whole;
}

Result<OutputMechanism> Engine::resolve_output(const Spec& spec, const ToolDecls& tools,
                                               const llm::Model& model) {
  auto schema = compile_input_schema(*schemas_, *spec.output_schema->schema);
  if (!schema) {
    std::string place = cat("/outputSchema/schema", schema.error().pointer());
    return std::move(schema).error().pointer(place);
  }
  return model.output_mechanism({.tools = tools, .output_schema = spec.output_schema->schema});
}

Task<Result<CreatedEntry>> Engine::resolve(Principal who, Prepared asked, std::string model_id) {
  ERRAND_CO_CHECK(deps_.catalog.resolve(model_id));
  ERRAND_CO_TRY(asked.spec.tools,
                co_await resolve_tools(std::move(asked.spec.tools), std::move(asked.stored), who));
  co_return resolve_now(who, std::move(asked.spec), model_id);
}

Result<CreatedEntry> Engine::resolve_now(const Principal& who, Spec spec,
                                         std::string_view model_id) {
  ERRAND_TRY(const CatalogModel* model, deps_.catalog.resolve(model_id));
  const std::shared_ptr<llm::Model> kept = model->model;  // while others are looked up
  CreatedEntry entry{
      .model = model->info, .price = model->pricing, .at = deps_.clock.now(), .key = who.key};
  if (who.trace) entry.traceparent = to_traceparent(*who.trace);
  entry.request_id = who.request_id;
  if (!spec.fallback_model_id.empty()) {
    auto fallback = deps_.catalog.resolve(spec.fallback_model_id);
    if (!fallback) return std::move(fallback).error().pointer("/fallbackModelId");
    entry.fallback = (*fallback)->info.id;
  }
  entry.tools = spec.tools->offered;
  for (std::size_t i = 0; i < spec.tools->refs.size(); ++i) {
    if (deps_.tools.is_remote(spec.tools->refs[i])) entry.unbound.push_back(i);
    bool calls_agents = std::holds_alternative<StoredAgent>(spec.tools->refs[i]);
    if (calls_agents && who.grant) entry.allowed_agents = who.grant->agents;
  }
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
      .conversation_bytes = limits_.conversation_bytes_max,
      .run_time = limits_.run_time,
      .on_turns_exceeded = budgets.on_turns_exceeded.value_or(OnTurnsExceeded::fail),
      .loop = loop_limits(spec.loop_detection),
      .tool_budgets = budgets_in_force(spec.tool_budgets)};
  // A budget for a tool that the run does not have has no effect, and would be stored with every
  // run.
  std::erase_if(entry.limits.tool_budgets, [&entry](const auto& budget) {
    if (!entry.unbound.empty()) return false;  // a server may still offer the tool
    return std::none_of(entry.tools->begin(), entry.tools->end(),
                        [&](const ToolDecl& tool) { return tool.name == budget.first; });
  });
  entry.ends_by = deps_.store.now() + entry.limits.run_time;
  entry.spec = std::move(spec);
  return entry;
}

Task<Result<void>> Engine::compile_schemas(ToolSetPtr tools, SchemaPtr output) {
  std::vector<SchemaPtr> schemas{std::move(output)};
  for (const ToolRef& ref : tools->refs) {
    if (tools->offered) break;  // compiled when the set was first sent
    for (const OfferedTool& tool : offered_tools(ref)) {
      schemas.push_back(tool.decl.input_schema);
      schemas.push_back(tool.decl.output_schema);
    }
  }
  auto compiled = co_await compile_aside(deps_.pool, schemas_, std::move(schemas));
  co_return compiled;
}

// Turns a caller's spec into the form that is stored: with its agent and its room merged in, and
// the headers of its tools sealed.
Task<Result<Engine::Prepared>> Engine::prepare(Principal who, Spec spec) {
  Prepared out;
  ERRAND_CO_TRY(out.spec, co_await adopt_agent(who, std::move(spec)));
  ERRAND_CO_CHECK(take_room_in(out.spec));
  ERRAND_CO_CHECK(co_await compile_schemas(
      out.spec.tools, out.spec.output_schema ? out.spec.output_schema->schema : nullptr));
  if (!deps_.records) co_return out;
  ERRAND_CO_TRY(out.spec.tools,
                co_await deps_.records->secrets.seal_headers(who.workspace, out.spec.tools));
  const ToolSetPtr tools = out.spec.tools;
  std::vector<SchemaPtr> schemas;
  for (std::size_t i = 0; i < tools->refs.size(); ++i) {
    if (!deps_.tools.is_stored(tools->refs[i])) continue;
    auto found = co_await deps_.tools.look_up(tools->refs[i], who);
    if (!found) {
      std::string place = cat("/tools/", i, found.error().pointer());
      co_return std::move(found).error().pointer(place);
    }
    for (ToolDecl& tool : *found) {
      tool.origin.ref = i;
      schemas.push_back(tool.input_schema);
    }
    out.stored[i] = std::move(*found);
  }
  ERRAND_CO_CHECK(co_await compile_aside(deps_.pool, schemas_, std::move(schemas)));
  co_return out;
}

Task<Result<ToolOutcome>> Engine::try_tool(Principal who, std::string id, json::Object arguments) {
  ToolRef ref = WorkspaceTool{.id = id};
  auto found = co_await deps_.tools.look_up(ref, who);
  if (!found && found.error().code() != ErrorCode::invalid_argument) {
    co_return std::move(found).error();
  }
  if (!found || found->empty()) {
    ref = PluginTool{.name = id};
    found = deps_.tools.bind(ref, who);
  }
  ToolPtr tool = found && !found->empty() ? deps_.tools.open(found->front(), ref, who) : nullptr;
  if (!tool) co_return Error(ErrorCode::not_found, cat("there is no tool \"", id, "\""));
  auto given = std::make_shared<const json::Value>(std::move(arguments));
  ERRAND_CO_TRY(auto errors,
                co_await check_arguments(deps_.pool, schemas_, tool->decl().input_schema, given));
  if (!errors.empty()) {
    co_return Error(ErrorCode::invalid_argument, errors.front().message)
        .pointer(cat("/arguments", errors.front().pointer));
  }
  ToolCall call{.id = deps_.ids.make<ToolUseIdTag>("tu_"), .arguments = given->get_object()};
  const milliseconds timeout = tool->decl().annotations.timeout.value_or(kHostToolTimeout);
  // The call's deadline is on the steady clock, even where the engine's timers use another clock.
  ToolContext context{.who = who, .deadline = std::chrono::steady_clock::now() + timeout};
  ToolOutcome outcome = co_await tried_tools_.call(tool, std::move(call), context, nullptr);
  co_return outcome;
}

Task<Result<Spec>> Engine::adopt_agent(Principal who, Spec spec) {
  const std::string asked = spec.agent_id;
  if (asked.empty()) {
    ERRAND_CO_CHECK(check_may_run_without_agent(who));
    co_return spec;
  }
  // A spec with a version has been merged with its agent before.
  const bool is_adopted = spec.agent_version > 0;
  if (is_adopted && who.may_use_agent(asked)) co_return spec;
  Result<NamedRecord> agent = Error(ErrorCode::not_found, cat("there is no agent \"", asked, "\""));
  if (deps_.records) agent = co_await deps_.records->agents.find(who.workspace, asked);
  if (!may_run(who, asked, agent)) co_return agent_not_allowed(asked);
  if (is_adopted) co_return spec;
  if (agent) {
    const bool is_long = agent->body.size() > kBytesInABreath;
    auto adopt = [asking = std::make_shared<Spec>(std::move(spec)),
                  record = std::make_shared<const NamedRecord>(std::move(*agent))] {
      return with_agent(std::move(*asking), *record);
    };
    if (!deps_.pool || !is_long) co_return adopt();
    co_return co_await deps_.pool->run(std::move(adopt));
  }
  if (agent.error().code() != ErrorCode::not_found) co_return std::move(agent).error();
  // The protocol answers 403 for an unknown agent, as for an agent of another workspace.
  co_return Error(ErrorCode::forbidden, agent.error().message())
      .pointer("/agentId")
      .hint("'errand agents list' shows them");
}

Task<Result<RunId>> Engine::create(Principal who, Spec spec, Idempotency idempotency) {
  ERRAND_CO_CHECK(check_asked(who, spec));
  auto run = co_await make_run(std::move(who), std::move(spec), std::move(idempotency), {});
  co_return run;
}

Task<Result<RunId>> Engine::make_run(Principal who, Spec spec, Idempotency idempotency,
                                     std::optional<ChildOf> child) {
  ERRAND_CO_TRY(auto asked, co_await prepare(who, std::move(spec)));
  std::string model_id = asked.spec.model_id;
  if (deps_.catalog.depends_on_source(model_id)) co_await deps_.catalog.refresh();
  std::vector<RunBlob> blobs;
  for (Message& message : asked.spec.messages) {
    for (RunBlob& blob : agent::take_bytes(message.files)) blobs.push_back(std::move(blob));
  }
  ERRAND_CO_TRY(auto created, co_await resolve(who, std::move(asked), model_id));
  if (child) {
    created.parent = child->parent;
    created.ends_by = std::min(created.ends_by, child->ends_by);
    created.limits.run_time =
        std::max(milliseconds(1), milliseconds(created.ends_by - deps_.store.now()));
    created.limits.max_tool_turns = std::min(created.limits.max_tool_turns, child->tool_turns_max);
  }
  std::vector<JournalEntry> journal;
  journal.reserve(2);
  // A run with tools that are not bound yet binds them before its first turn.
  const bool is_bound = created.unbound.empty();
  journal.emplace_back(std::move(created));
  if (is_bound) journal.emplace_back(TurnEntry{.turn = 0, .attempt = 1, .after_seq = 0});
  ERRAND_CO_TRY(auto outcome,
                co_await begin(who, std::move(journal), std::move(blobs), std::move(idempotency),
                               {}, child ? child->id : RunId()));
  co_return outcome.run;
}

Result<void> Engine::check_conversation_bytes(std::size_t bytes) const {
  const std::size_t max = limits_.conversation_bytes_max;
  if (bytes <= max) return {};
  return limit_met(cat("the conversation would have more than ", max, " bytes"), "",
                   "conversationBytes", max);
}

Task<Result<CreateOutcome>> Engine::begin(Principal who, std::vector<JournalEntry> journal,
                                          std::vector<RunBlob> blobs, Idempotency idempotency,
                                          std::optional<SessionTurn> session, RunId id) {
  ERRAND_ASSERT_HOME(deps_.home);
  if (draining_) {
    co_return Error(ErrorCode::unavailable, "the server is shutting down and takes no new runs")
        .reason("draining");
  }
  // A long journal is written and folded on the pool, so that the home stays free.
  const std::size_t bytes = rough_bytes(journal);
  BlockingPool* pool = bytes > kBytesInABreath ? deps_.pool : nullptr;
  auto take = [journal = std::move(journal), bytes]() mutable {
    return Result<Beginning>(take_in(std::move(journal), bytes));
  };
  ERRAND_CO_TRY(auto taken, co_await run_aside(pool, std::move(take)));
  std::unique_ptr<agent::State> state = std::move(taken.state);
  NewRun run{.idempotency = std::move(idempotency),
             .effects = {.blobs = std::move(blobs)},
             .session = std::move(session)};
  run.first.journal = std::move(taken.journal);
  ERRAND_CO_CHECK(check_conversation_bytes(state->conversation_bytes()));
  const CreatedEntry& created = state->created();
  add_tools(created.spec.tools, run.effects.blobs);
  // The status is part of the commit, so the slot and the place for the first turn are taken before
  // it. Both are held until the run has its own, or is known to wait. A run that needs no wait for
  // a slot may still have to wait for a connection to the model, or for memory for its files.
  const agent::TurnRoom::Need need{.workspace = who.workspace,
                                   .file_bytes = agent::held_bytes(agent::files_to_read(*state))};
  Wakeup* nobody = nullptr;
  std::optional<agent::TurnRoom::Place> room;
  if (turns_.is_free(need)) room.emplace(turns_, need, nobody);
  Residency::KeptSlot slot;
  if (room) slot = residency_.keep_slot(who.workspace);
  if (!slot.is_kept()) room.reset();
  run.first.at = created.at;
  run.row = {.id = id.empty() ? deps_.ids.make<RunIdTag>(kRunPrefix) : id,
             .workspace = who.workspace,
             .status = slot.is_kept() ? RunStatus::running : RunStatus::queued,
             .name = created.spec.name,
             .model_id = created.model.id,
             .metadata = json::write(labels_json(created.spec)),
             .created_at = created.at,
             .updated_at = created.at,
             .ends_by = created.ends_by,
             .segments = 1,
             .session = created.session};

  const RunRow row = run.row;
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto begun, co_await create_surely(std::move(run)));
  CreateOutcome& outcome = begun.outcome;
  // A repeated request gets the first request's run, which is already driven.
  if (outcome.refused || outcome.kind == Creation::existing) co_return std::move(outcome);
  if (outcome.kind == Creation::conflict) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  ++counters_.runs_created;
  if (!row.session.empty()) ++counters_.session_messages;
  tell_unchecked_patterns(deps_.log, row, created);
  RunRow owned = row;
  owned.epoch = outcome.epoch;
  // A run that waits for its session is started by the commit that ends the run before it.
  const bool is_its_turn = !outcome.waits_for_turn && !begun.is_driven;
  if (is_its_turn) {
    residency_.begin(owned, std::move(state), std::move(slot), outcome.history);
  }
  co_return std::move(outcome);
}

}  // namespace errand::engine
